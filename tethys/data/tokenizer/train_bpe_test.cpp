#include "data/tokenizer/train_bpe.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "data/sources/compressed_testing.h"
#include "data/tokenizer/byte_level.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BpeTraining merges(int64_t count) { return {.vocab_size = 256 + 1 + count}; }

std::vector<std::string> learned(const Bpe& bpe) { return {bpe.tokens.begin() + 256, bpe.tokens.end()}; }

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LearnMerges, TakesTheMostFrequentPairFirst) {
  // The example of Sennrich et al. 2016 without its end-of-word mark. Counts: e s 9, s t 9, w e 8, l o 7, o w 7. After
  // "es": es t 9. After "est": l o 7, o w 7, then w est 6 = n e 6 = e w 6.
  Bpe bpe = learn_merges({{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}}, merges(4));
  EXPECT_THAT(learned(bpe), ElementsAre("es", "est", "lo", "low"));
}

TEST(LearnMerges, GivesTiesToTheLowerIds) {
  // All four pairs occur 5 times; ids go by byte here, so "ab" comes first and "yz" last.
  Bpe bpe = learn_merges({{"yz", 5}, {"cd", 5}, {"ab", 5}, {"ac", 5}}, merges(4));
  EXPECT_THAT(learned(bpe), ElementsAre("ab", "ac", "cd", "yz"));
}

TEST(LearnMerges, CountsARunOnceForEachPairItGives) {
  // "aaaa" becomes X X, so that the second merge is X X.
  Bpe bpe = learn_merges({{"aaaa", 3}}, merges(2));
  EXPECT_THAT(learned(bpe), ElementsAre("aa", "aaaa"));
}

TEST(LearnMerges, CountsWhatAMergeLeavesExactly) {
  // x y 7 first. Then "xyxy" holds (xy xy) 4 times and "xyz" (xy z) 3 times; counting (y x) or (y z) still would show.
  Bpe bpe = learn_merges({{"xyxy", 4}, {"xyz", 3}}, merges(9));
  EXPECT_THAT(learned(bpe), ElementsAre("xy", "xyxy", "xyz"));
}

TEST(LearnMerges, StopsWhenNoPairOccursTwice) {
  EXPECT_THAT(learned(learn_merges({{"abc", 1}, {"xy", 2}}, merges(9))), ElementsAre("xy"));
}

TEST(LearnMerges, BeginsWithTheBytesAndEndsWithTheSpecialTokens) {
  Bpe bpe = learn_merges({{"xy", 2}}, {.vocab_size = 300, .specials = {"<|a|>", "<|b|>"}});
  EXPECT_EQ(bpe.tokens[0], "!");  // the first printable byte, as in every byte-level vocabulary
  EXPECT_EQ(bpe.vocab_size(), 256 + 1 + 2);
  ASSERT_EQ(bpe.added.size(), 2U);
  EXPECT_EQ(bpe.added[0], (AddedToken{.id = 257, .text = "<|a|>"}));
  EXPECT_EQ(bpe.added[1], (AddedToken{.id = 258, .text = "<|b|>"}));
}

TEST(LearnMerges, RefusesAVocabularyBelowTheBytes) {
  EXPECT_THAT(error_of([] { learn_merges({{"xy", 2}}, {.vocab_size = 256}); }), HasSubstr("at least 257"));
}

TEST(LearnMerges, RefusesASpecialTokenNamedTwice) {
  EXPECT_THAT(error_of([] {
                learn_merges({{"xy", 2}}, {.vocab_size = 300, .specials = {"<e>", "<e>"}});
              }),
              HasSubstr("<e> is named twice"));
}

TEST(TrainBpe, IsTheSameWithAnyNumberOfThreads) {
  TemporaryFolder folder;
  std::vector<std::string> files;
  for (int i = 0; i < 20; ++i) {
    files.push_back(folder / fmt::format("{}.txt", i));
    write_file(files.back(), fmt::format("the {} boats of harbour {} and the {} nets\n", i, i % 7, i % 3));
    files.push_back(folder / fmt::format("{}.jsonl.gz", i));
    write_file(files.back(), gzipped(fmt::format("{{\"text\": \"a boat of pier {}\"}}\nno line\n", i % 5)));
  }
  const auto trained = [&](int threads) {
    return train_bpe(files, {.vocab_size = 300, .lines = {.skip_bad_lines = true}, .threads = threads});
  };
  const TrainedBpe one = trained(1), four = trained(4);
  EXPECT_EQ(one.bpe.tokens, four.bpe.tokens);
  EXPECT_EQ(one.bpe.merges, four.bpe.merges);
  EXPECT_EQ(one.skipped_lines, 20);
  EXPECT_EQ(four.skipped_lines, 20);
}

TEST(TrainBpe, CountsTheWordsOfAllFiles) {
  TemporaryFolder folder;
  write_file(folder / "a", "to be or");
  write_file(folder / "b", "to be");
  EXPECT_EQ(count_words({folder / "a", folder / "b"}, {}).words, (WordCounts{{"to", 2}, {" be", 2}, {" or", 1}}));
}

TEST(TrainBpe, RefusesFilesWithoutText) {
  TemporaryFolder folder;
  write_file(folder / "a", "");
  EXPECT_THAT(error_of([&] { train_bpe({folder / "a"}, {.vocab_size = 300}); }), HasSubstr("no text"));
}

TEST(TrainBpe, NamesAFileThatIsNotThere) {
  EXPECT_THAT(error_of([] { train_bpe({"/nowhere/a.txt"}, {.vocab_size = 300}); }), HasSubstr("/nowhere/a.txt"));
}

TEST(TrainBpe, ReportsItsProgress) {
  TemporaryFolder folder;
  write_file(folder / "a", "to be or not to be");
  std::vector<std::string> reports;
  const auto note = [&](std::string_view stage, int64_t done, int64_t total) {
    if (done == 0 || done == total) reports.push_back(fmt::format("{} {}/{}", stage, done, total));
  };
  // Of the 43 tokens that are asked for, most are never found.
  train_bpe({folder / "a"}, {.vocab_size = 300, .progress = note});
  EXPECT_THAT(reports, ElementsAre("counting words 0/18", "counting words 18/18", "learning merges 0/299",
                                   "learning merges 299/299"));
}

TEST(ByteLevel, SpellsBytesAsTheFieldDoes) {
  EXPECT_EQ(to_byte_level(" a\n"), "ĠaĊ");
  EXPECT_EQ(to_byte_level("é"), "Ã©");
  EXPECT_EQ(from_byte_level("ĠaĊ"), " a\n");
  EXPECT_EQ(from_byte_level("海"), std::nullopt);
}

TEST(ByteLevel, IsItsOwnInverseOnAllBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(from_byte_level(to_byte_level(all)), all);
}

}  // namespace
}  // namespace tethys
