#include "data/index/token_index.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/temporary_folder.h"
#include "data/sources/compressed_testing.h"
#include "data/tokenizer/train_bpe.h"

namespace tethys {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

const Tokenizer& tokenizer() {
  static const Tokenizer shared(learn_merges({{"the", 9}, {" boat", 5}}, {.vocab_size = 261}));
  return shared;
}

class Index : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { write_file(folder_ / name, text); }

  void write_documents(int count) {
    for (int i = 0; i < count; ++i) write(fmt::format("{:03}.txt", i), fmt::format("the boat number {}", i));
  }

  TokenIndex open(double share = 0.1, const Tokenizer& with = tokenizer(), int threads = 2) {
    return open_index(with, {.files = {folder_ / "*.txt"},
                             .folder = (folder_ / "cache").string(),
                             .validation_share = share,
                             .threads = threads});
  }

  std::string error_of_open() {
    try {
      open();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

// The documents as text, each checked to end with the end-of-text token and to hold no other.
std::vector<std::string> texts(const TokenStream& stream, const Tokenizer& with = tokenizer()) {
  std::vector<std::string> documents;
  for (int64_t i = 0; i < stream.documents(); ++i) {
    auto begin = static_cast<int64_t>(stream.starts()[static_cast<size_t>(i)]);
    int64_t end =
        i + 1 < stream.documents() ? static_cast<int64_t>(stream.starts()[static_cast<size_t>(i) + 1]) : stream.size();
    std::vector<uint32_t> tokens(static_cast<size_t>(end - begin));
    stream.copy(begin, tokens);
    std::vector<int32_t> ids(tokens.begin(), tokens.end());
    EXPECT_EQ(ids.back(), with.end_of_text());
    ids.pop_back();
    EXPECT_EQ(std::count(ids.begin(), ids.end(), with.end_of_text()), 0);
    documents.push_back(with.decode(ids));
  }
  return documents;
}

TEST_F(Index, HoldsEachDocumentInOrderWithItsEnd) {
  write("a.txt", "the boat\n");
  write("b.txt", "not <|end_of_text|> yet");
  write("c.txt", "\xff\xfe not UTF-8");
  TokenIndex index = open(0);
  EXPECT_THAT(texts(index.training), ElementsAre("the boat\n", "not <|end_of_text|> yet", "\xff\xfe not UTF-8"));
  EXPECT_EQ(index.validation.size(), 0);
  EXPECT_EQ(index.training_bytes, 9 + 23 + 12);
}

TEST_F(Index, HoldsOutTheShareOfDocuments) {
  write_documents(40);
  TokenIndex index = open(0.1);
  EXPECT_EQ(index.validation.documents(), 4);
  std::vector<std::string> both = texts(index.training), held_out = texts(index.validation), written;
  both.insert(both.end(), held_out.begin(), held_out.end());
  for (int i = 0; i < 40; ++i) written.push_back(fmt::format("the boat number {}", i));
  EXPECT_THAT(both, UnorderedElementsAreArray(written));
}

TEST_F(Index, HoldsOutAtLeastOneOfTwoDocumentsAndNeverAll) {
  write_documents(2);
  EXPECT_EQ(open(0.001).validation.documents(), 1);
  EXPECT_EQ(open(0.999).validation.documents(), 1);
  EXPECT_EQ(open(0).validation.documents(), 0);
}

TEST_F(Index, HoldsOutTheSameDocumentsUnderOtherNames) {
  write_documents(40);
  std::vector<std::string> before = texts(open(0.2).validation);
  for (int i = 0; i < 40; ++i) {
    std::filesystem::rename(folder_ / fmt::format("{:03}.txt", i), folder_ / fmt::format("x{:03}.txt", 39 - i));
  }
  EXPECT_THAT(texts(open(0.2).validation), UnorderedElementsAreArray(before));
}

TEST_F(Index, KeepsCopiesOfADocumentOnOneSide) {
  write_documents(30);
  for (int i = 0; i < 30; ++i) write(fmt::format("copy{:03}.txt", i), fmt::format("the boat number {}", i));
  TokenIndex index = open(0.25);
  std::vector<std::string> held_out = texts(index.validation);
  ASSERT_FALSE(held_out.empty());
  for (const std::string& text : texts(index.training)) EXPECT_THAT(held_out, testing::Not(Contains(text)));
}

TEST_F(Index, TellsTheBeginningAndTheEndOfItsStagesAndNothingWhereItIsRead) {
  write_documents(3);
  std::vector<std::string> reports;
  const Corpus corpus{.files = {folder_ / "*.txt"},
                      .folder = (folder_ / "cache").string(),
                      .progress = [&](std::string_view stage, int64_t done, int64_t total) {
                        if (done == 0 || done == total) reports.push_back(fmt::format("{} {}/{}", stage, done, total));
                      }};
  open_index(tokenizer(), corpus);
  EXPECT_THAT(reports, ElementsAre("reading 0/51", "reading 51/51", "tokenising 0/3", "tokenising 3/3"));
  open_index(tokenizer(), corpus);
  EXPECT_EQ(reports.size(), 4u);
}

// Thrown by progress: whoever asks for an index may think better of it.
TEST_F(Index, ThatIsGivenUpLeavesNothing) {
  write_documents(3);
  for (const std::string at : {"reading", "tokenising"}) {
    const Corpus corpus{.files = {folder_ / "*.txt"},
                        .folder = (folder_ / "cache").string(),
                        .progress = [&](std::string_view stage, int64_t done, int64_t total) {
                          // Long reading must not let a file grow old that is not written to yet.
                          if (stage == "reading") {
                            EXPECT_TRUE(std::filesystem::is_empty(folder_ / "cache"));
                          }
                          if (stage == at && done == total) throw InternalError("given up");
                        }};
    EXPECT_THROW(open_index(tokenizer(), corpus), InternalError);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "cache"));
  }
}

TEST_F(Index, IsBuiltOnceAndReadAfterwards) {
  write_documents(5);
  TokenIndex first = open(), second = open();
  EXPECT_TRUE(first.built);
  EXPECT_FALSE(second.built);
  EXPECT_EQ(first.path, second.path);
  EXPECT_EQ(first.fingerprint, second.fingerprint);
  EXPECT_EQ(texts(first.training), texts(second.training));
}

TEST_F(Index, IsBuiltAnewWhenAFileChanges) {
  write_documents(5);
  TokenIndex first = open(0);
  write("002.txt", "the boat number Z");  // of the same size
  std::filesystem::last_write_time(folder_ / "002.txt",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  TokenIndex second = open(0);
  EXPECT_TRUE(second.built);
  EXPECT_NE(first.fingerprint, second.fingerprint);
  EXPECT_THAT(texts(second.training), Contains("the boat number Z"));
  // The first is mapped still, and says what it said.
  EXPECT_THAT(texts(first.training), Contains("the boat number 2"));
}

TEST_F(Index, IsBuiltAnewWhenAFileComesOrGoes) {
  write_documents(5);
  open();
  write("new.txt", "the new boat");
  EXPECT_TRUE(open().built);
  std::filesystem::remove(folder_ / "new.txt");
  EXPECT_TRUE(open().built);
}

TEST_F(Index, IsBuiltAnewForAnotherTokenizerOrShare) {
  write_documents(5);
  open(0.1);
  EXPECT_TRUE(open(0.5).built);
  Tokenizer other(learn_merges({{"number", 9}}, {.vocab_size = 261}));
  EXPECT_TRUE(open(0.5, other).built);
  EXPECT_FALSE(open(0.5).built);  // each tokenizer has its own file
}

TEST_F(Index, IsBuiltAnewWhenItsFileIsDamaged) {
  write_documents(5);
  TokenIndex first = open();
  for (size_t keep : {size_t{0}, size_t{10}, static_cast<size_t>(std::filesystem::file_size(first.path)) - 8}) {
    std::string bytes = read_file(first.path);
    write_file(first.path, std::string_view(bytes).substr(0, keep));
    TokenIndex again = open();
    EXPECT_TRUE(again.built) << keep;
    EXPECT_EQ(again.fingerprint, first.fingerprint);
  }
}

TEST_F(Index, IsTheSameWithAnyNumberOfThreads) {
  write_documents(50);
  std::string one = open(0.1, tokenizer(), 1).fingerprint;
  std::filesystem::remove_all(folder_ / "cache");
  EXPECT_EQ(open(0.1, tokenizer(), 3).fingerprint, one);
}

TEST_F(Index, LeavesNothingElseInItsFolder) {
  write_documents(5);
  TokenIndex index = open();
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) names.push_back(entry.path());
  EXPECT_THAT(names, ElementsAre(index.path));
}

TEST_F(Index, JoinsTheChunksThatItIsBuiltIn) {
  std::vector<std::string> written;
  for (int i = 0; i < 5; ++i) {
    written.emplace_back();
    while (written.back().size() < 1'500'000) written.back() += fmt::format("boat {} ", i);
    write(fmt::format("{}.txt", i), written.back());
  }
  EXPECT_TRUE(texts(open(0).training) == written);  // EXPECT_EQ would print them
}

TEST_F(Index, TakesFourBytesForALargeVocabulary) {
  write_documents(3);
  Bpe bpe = tokenizer().bpe();
  for (int i = 0; i < 66000; ++i) bpe.tokens.push_back(fmt::format("unused{}", i));
  bpe.added.front().id += 66000;
  Tokenizer large(bpe);
  ASSERT_GT(large.end_of_text(), 65535);
  EXPECT_THAT(texts(open(0, large).training, large),
              ElementsAre("the boat number 0", "the boat number 1", "the boat number 2"));
}

TEST_F(Index, PassesOverEmptyFiles) {
  write("a.txt", "");
  write("b.txt", "the boat");
  EXPECT_THAT(texts(open().training), ElementsAre("the boat"));
}

TEST_F(Index, OfEmptyFilesOnlyIsRefused) {
  write("a.txt", "");
  write("b.txt", "");
  EXPECT_THAT(error_of_open(), HasSubstr("the corpus is empty: of the 2 files"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "cache"));
}

TEST_F(Index, NamesAFileThatCannotBeRead) {
  write_documents(3);
  std::filesystem::create_symlink("nothing", folder_ / "lost.txt");
  EXPECT_THAT(error_of_open(), HasSubstr("lost.txt"));
}

TEST_F(Index, RefusesAShareOutOfRange) {
  write_documents(3);
  EXPECT_THROW(open(1), UserError);
  EXPECT_THROW(open(-0.1), UserError);
}

class JsonLinesIndex : public Index {
 protected:
  TokenIndex open_lines(const LineOptions& lines, int threads = 2, double share = 0, const char* pattern = "*") {
    return open_index(tokenizer(), {.files = {folder_ / pattern},
                                    .lines = lines,
                                    .folder = (folder_ / "cache").string(),
                                    .validation_share = share,
                                    .threads = threads});
  }
};

TEST_F(JsonLinesIndex, HoldsADocumentPerLineBesideTheTextFiles) {
  write("a.txt", "a file");
  write("b.jsonl", "{\"text\": \"one\"}\n{\"text\": \"\"}\n\n{\"text\": \"two\\nlines\"}");
  write("c.jsonl.gz", gzipped("{\"text\": \"packed\"}\n"));
  write("d.jsonl.zst", zstandard("{\"text\": \"tight\"}\n{\"text\": \"last\"}\n"));
  write("e.txt.gz", gzipped("a packed\nfile"));
  write("f.txt.zst", zstandard("a tight\nfile"));
  const TokenIndex index = open_lines({});
  EXPECT_THAT(texts(index.training),
              ElementsAre("a file", "one", "two\nlines", "packed", "tight", "last", "a packed\nfile", "a tight\nfile"));
  EXPECT_EQ(index.files, 6);
  EXPECT_EQ(index.training_bytes, 6 + 3 + 9 + 6 + 5 + 4 + 13 + 12);
  EXPECT_EQ(index.skipped_lines, 0);
}

TEST_F(JsonLinesIndex, HoldsWhatFilesOfTheSameDocumentsGive) {
  std::string lines;
  for (int i = 0; i < 200; ++i) {
    const std::string text = fmt::format("the boat number {}", i);
    write(fmt::format("{:03}.txt", i), text);
    lines += fmt::format("{{\"text\": \"{}\"}}\n", text);
  }
  write("lines.jsonl.zst", zstandard(lines));
  const TokenIndex files = open_lines({}, 2, 0.1, "*.txt"), packed = open_lines({}, 2, 0.1, "*.jsonl.zst");
  EXPECT_EQ(packed.fingerprint, files.fingerprint);
  EXPECT_EQ(packed.validation.documents(), 20);
}

TEST_F(JsonLinesIndex, IsTheSameWithAnyNumberOfThreadsAndManyChunks) {
  const std::string filler(40'000, 'x');
  for (int file = 0; file < 5; ++file) {
    std::string lines;
    for (int i = 0; i < 60; ++i) {
      lines += i % 7 == 3 ? "{\n" : fmt::format("{{\"pad\": \"{}\", \"text\": \"the boat {} {}\"}}\n", filler, file, i);
    }
    write(fmt::format("{}.jsonl.gz", file), gzipped(lines));
  }
  const TokenIndex one = open_lines({.skip_bad_lines = true}, 1, 0.3);
  std::filesystem::remove_all(folder_ / "cache");
  const TokenIndex three = open_lines({.skip_bad_lines = true}, 3, 0.3);
  EXPECT_EQ(one.fingerprint, three.fingerprint);
  EXPECT_EQ(one.skipped_lines, 5 * 9);
  EXPECT_EQ(three.skipped_lines, 5 * 9);
  EXPECT_EQ(three.training.documents() + three.validation.documents(), 5 * 51);
}

TEST_F(JsonLinesIndex, IsBuiltOncePerField) {
  write("a.jsonl", "{\"text\": \"one\", \"body\": \"two\"}\n");
  EXPECT_TRUE(open_lines({}).built);
  const TokenIndex other = open_lines({.text_field = "body"});
  EXPECT_TRUE(other.built);
  EXPECT_THAT(texts(other.training), ElementsAre("two"));
  EXPECT_FALSE(open_lines({}).built);
  EXPECT_FALSE(open_lines({.text_field = "body"}).built);
}

TEST_F(JsonLinesIndex, OfPlainFilesDoesNotDependOnTheField) {
  write("a.txt", "one");
  EXPECT_TRUE(open_lines({}).built);
  EXPECT_FALSE(open_lines({.text_field = "body", .skip_bad_lines = true}).built);
}

TEST_F(JsonLinesIndex, CountsSkippedLinesAlsoWhenItIsFound) {
  write("a.jsonl", "{\"text\": \"one\"}\nno JSON\n{\"text\": 5}\n");
  EXPECT_EQ(open_lines({.skip_bad_lines = true}).skipped_lines, 2);
  const TokenIndex found = open_lines({.skip_bad_lines = true});
  EXPECT_FALSE(found.built);
  EXPECT_EQ(found.skipped_lines, 2);
}

TEST_F(JsonLinesIndex, NamesTheFileAndTheFirstBadLineAndLeavesNothing) {
  write("a.jsonl", "{\"text\": \"one\"}\n");
  write("b.jsonl", "{\"text\": \"one\"}\n\nno JSON\n{}\n");
  write("c.jsonl", "no JSON\n");
  for (int threads : {1, 3}) {
    try {
      open_lines({}, threads);
      ADD_FAILURE() << "it was taken";
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("b.jsonl: line 3 is not JSON"));
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "cache"));
}

// Bad lines may be skipped; a file that is cut off is never taken for a shorter one.
TEST_F(JsonLinesIndex, IsNotBuiltFromADamagedFile) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += fmt::format("{{\"text\": \"the boat number {}\"}}\n", i);
  const std::string packed = gzipped(lines);
  write("a.jsonl.gz", packed.substr(0, packed.size() - 3));
  EXPECT_THROW(open_lines({.skip_bad_lines = true}), UserError);
}

TEST_F(JsonLinesIndex, TellsHowFarItIsWithinAFile) {
  std::string lines;
  for (int i = 0; i < 40'000; ++i) lines += fmt::format("{{\"text\": \"{}\"}}\n", hash_hex(std::to_string(i)));
  const std::string packed = gzipped(lines);
  write("a.jsonl.gz", packed);
  std::vector<int64_t> told;
  open_index(tokenizer(), {.files = {folder_ / "a.jsonl.gz"},
                           .folder = (folder_ / "cache").string(),
                           .progress = [&](std::string_view stage, int64_t done, int64_t total) {
                             if (stage != "reading") return;
                             EXPECT_EQ(total, static_cast<int64_t>(packed.size()));
                             told.push_back(done);
                           }});
  EXPECT_EQ(told.front(), 0);
  EXPECT_EQ(told.back(), static_cast<int64_t>(packed.size()));
  EXPECT_GE(told.size(), 10u);
  EXPECT_LE(told.size(), 102u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
}

TEST_F(JsonLinesIndex, OfSkippedLinesOnlyIsRefused) {
  write("a.jsonl", "no\nnone\n");
  try {
    open_lines({.skip_bad_lines = true});
    ADD_FAILURE() << "it was taken";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none holds text; 2 bad lines skipped"));
  }
}

// Several turns, more tokens than one word of the mask, in an order that survives threads and the way to the disk.
TEST_F(JsonLinesIndex, KeepsOfChatsWhichTokensAreLearnt) {
  const Tokenizer chat_tokenizer(learn_merges(
      {{"the", 9}}, {.vocab_size = 260, .specials = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, .progress = {}}));
  std::string lines;
  for (int i = 0; i < 30; ++i) {
    lines += fmt::format(
        R"({{"messages": [{{"role": "user", "content": "q{0}"}}, {{"role": "assistant", "content": "a{0}"}}, )"
        R"({{"role": "user", "content": "the end?"}}, {{"role": "assistant", "content": "the end"}}]}})"
        "\n",
        i);
  }
  write("chats.jsonl", lines);
  const auto open_chats = [&](int threads) {
    return open_index(chat_tokenizer, {.files = {folder_ / "*.jsonl"},
                                       .lines = {.text_field = "text", .skip_bad_lines = false, .chats = true},
                                       .folder = (folder_ / fmt::format("cache{}", threads)).string(),
                                       .validation_share = 0.2,
                                       .threads = threads});
  };
  const TokenIndex index = open_chats(3);
  EXPECT_EQ(index.training.documents(), 24);
  EXPECT_EQ(index.validation.documents(), 6);
  std::set<std::string> answers;
  for (const TokenStream* stream : {&index.training, &index.validation}) {
    ASSERT_TRUE(stream->has_mask());
    for (int64_t document = 0; document < stream->documents(); ++document) {
      std::string learnt;
      for (int64_t i = stream->document_begin(document); i < stream->document_begin(document + 1); ++i) {
        if (stream->is_learnt(i)) learnt += chat_tokenizer.token(static_cast<int32_t>((*stream)[i]));
      }
      answers.insert(learnt);
    }
  }
  std::set<std::string> expected;
  for (int i = 0; i < 30; ++i) expected.insert(fmt::format("a{}<|im_end|>the end<|im_end|>", i));
  EXPECT_EQ(answers, expected);
  EXPECT_FALSE(open_chats(3).built);
  EXPECT_EQ(open_chats(1).fingerprint, index.fingerprint);
  // The same lines, but as no chats, are another corpus.
  EXPECT_THROW(open_lines({}, 2, 0, "*.jsonl"), UserError);
}

}  // namespace
}  // namespace tethys
