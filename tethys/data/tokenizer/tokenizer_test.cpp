#include "data/tokenizer/tokenizer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/encoder.h"
#include "data/tokenizer/train_bpe.h"

namespace tethys {
namespace {

using nlohmann::json;
using testing::ElementsAre;

const std::string kGolden = TETHYS_SOURCE_DIR "/tests/golden/tokenizer/";

const Tokenizer& tokenizer() {
  static const Tokenizer shared(train_bpe({kGolden + "corpus.txt"}, {.vocab_size = 600}).bpe);
  return shared;
}

// What PyPI `tokenizers` learned from the same text, and how it encodes (generate.py).
const json& peer() {
  static const json shared = json::parse(read_file(kGolden + "peer.json"));
  return shared;
}

TEST(Tokenizer, LearnsThePeersMerges) {
  const Bpe& bpe = tokenizer().bpe();
  EXPECT_EQ(bpe.vocab_size(), peer()["vocab_size"]);
  ASSERT_EQ(bpe.merges.size(), peer()["merges"].size());
  for (size_t rank = 0; rank < bpe.merges.size(); ++rank) {
    const Merge& merge = bpe.merges[rank];
    EXPECT_EQ(to_byte_level(bpe.tokens[static_cast<size_t>(merge.left)]) + " " +
                  to_byte_level(bpe.tokens[static_cast<size_t>(merge.right)]),
              peer()["merges"][rank]);
  }
}

TEST(Tokenizer, EncodesAsThePeerDoes) {
  for (const json& example : peer()["cases"]) {
    std::string text = example["text"];
    EXPECT_EQ(tokenizer().encode(text), example["ids"].get<std::vector<int32_t>>()) << example["text"];
  }
}

TEST(Tokenizer, DecodesToTheBytesThatWereEncoded) {
  for (const json& example : peer()["cases"]) {
    EXPECT_EQ(tokenizer().decode(example["ids"].get<std::vector<int32_t>>()), example["text"]);
  }
  std::mt19937 random(1);
  Encoder encoder(tokenizer());
  for (int round = 0; round < 300; ++round) {
    std::string bytes;  // of any kind, rarely UTF-8
    for (unsigned i = random() % 60; i > 0; --i) bytes += static_cast<char>(random());
    std::vector<int32_t> ids;
    encoder.encode(bytes, ids);
    ASSERT_EQ(tokenizer().decode(ids), bytes);
  }
}

TEST(Tokenizer, AWordMetAgainHasTheSameIds) {
  Encoder encoder(tokenizer());
  std::vector<int32_t> twice;
  encoder.encode(" harbour harbour", twice);
  std::vector<int32_t> once = tokenizer().encode(" harbour");
  once.insert(once.end(), once.begin(), once.begin() + static_cast<std::ptrdiff_t>(once.size()));
  EXPECT_EQ(twice, once);
}

TEST(Tokenizer, MergesByRankAndThenFromTheLeft) {
  Bpe bpe = learn_merges({{"aa", 9}, {"ab", 8}}, {.vocab_size = 259});
  ASSERT_THAT(bpe.tokens, testing::Contains("aa"));
  Tokenizer hand(bpe);
  int32_t a = 64, b = 65, aa = 256, ab = 257;  // 'a' is the 65th printable byte
  EXPECT_THAT(hand.encode("aab"), ElementsAre(aa, b));
  EXPECT_THAT(hand.encode("aaab"), ElementsAre(aa, ab));
  EXPECT_THAT(hand.encode("aaa"), ElementsAre(aa, a));
}

TEST(Tokenizer, EncodesAMillionLettersInARow) {
  std::string run(1'000'000, 'o');
  EXPECT_EQ(tokenizer().decode(tokenizer().encode(run)), run);
}

TEST(Tokenizer, ADocumentCannotSpellItsOwnEnd) {
  std::string text = "a<|end_of_text|>b";
  std::vector<int32_t> as_document;
  Encoder(tokenizer()).encode_document(text, as_document);
  EXPECT_THAT(as_document, testing::Each(testing::Ne(tokenizer().end_of_text())));
  EXPECT_EQ(tokenizer().decode(as_document), text);
  EXPECT_THAT(tokenizer().encode(text), testing::Contains(tokenizer().end_of_text()));
}

TEST(Tokenizer, MatchesTheLongestOfTheLeftmostSpecialTokens) {
  Tokenizer several(learn_merges({{"xy", 2}}, {.vocab_size = 300, .specials = {"<e", "<e>", "e>"}}));
  EXPECT_THAT(several.encode("<e>e>"), ElementsAre(258, 259));
}

TEST(Tokenizer, IdsOfTheVocabularyOnlyCanBeDecoded) {
  std::vector<int32_t> ids = {static_cast<int32_t>(tokenizer().vocab_size())};
  EXPECT_THROW(tokenizer().decode(ids), UserError);
  ids = {-1};
  EXPECT_THROW(tokenizer().decode(ids), UserError);
}

// A tokenizer with what Llama 3's has: merges are passed over for whole words, and a begin of text.
Tokenizer llama_like(TokenizerConfig config = {}) {
  Bpe bpe = learn_merges({{"low", 5}, {"lower", 4}}, {.vocab_size = 262, .specials = {"<|begin|>", kEndOfText}});
  bpe.tokens.push_back("wer");  // no merge makes it
  for (AddedToken& token : bpe.added) ++token.id;
  bpe.ignore_merges = true;
  bpe.prefix = {bpe.added[0].id};
  return Tokenizer(bpe, std::move(config));
}

TEST(Tokenizer, TakesAWholeWordThatNoMergeMakes) {
  Tokenizer tokenizer = llama_like();
  int32_t wer = tokenizer.bpe().added[0].id - 1;
  EXPECT_THAT(tokenizer.encode("wer", Template::Leave), ElementsAre(wer));
  EXPECT_THAT(tokenizer.encode("wers", Template::Leave), testing::Not(testing::Contains(wer)));
}

TEST(Tokenizer, PutsTheTemplateOnceAroundAText) {
  Tokenizer tokenizer = llama_like();
  int32_t begin = *tokenizer.special("<|begin|>");
  EXPECT_THAT(tokenizer.encode(""), ElementsAre(begin));
  EXPECT_THAT(tokenizer.encode("wer"), ElementsAre(begin, begin - 1));
  EXPECT_THAT(tokenizer.encode("wer", Template::Leave), ElementsAre(begin - 1));
  EXPECT_THAT(tokenizer.encode("<|begin|>wer", Template::Leave), ElementsAre(begin, begin - 1));
}

TEST(Tokenizer, LeavesSpecialTokensOutOfATextOnRequest) {
  Tokenizer tokenizer = llama_like();
  std::vector<int32_t> ids = tokenizer.encode("wer<|end_of_text|>low");
  EXPECT_EQ(tokenizer.decode(ids), "<|begin|>wer<|end_of_text|>low");
  EXPECT_EQ(tokenizer.decode(ids, Specials::Skip), "werlow");
}

TEST(Tokenizer, EndsDocumentsAsTheModelWasTrained) {
  Bpe bpe = learn_merges({{"xy", 2}}, {.vocab_size = 300, .specials = {"<|endoftext|>", "<|im_end|>", "</s>"}});
  // A model for chats ends its turns otherwise than documents.
  Tokenizer qwen(bpe, {.added = {}, .end_of_sequence = "<|im_end|>", .chat_template = ""});
  EXPECT_EQ(qwen.end_of_text(), 257);
  EXPECT_THAT(qwen.stops(), ElementsAre(257, 258));
  bpe.added[0].text = "<|pad|>";
  EXPECT_EQ(Tokenizer(bpe, {.added = {}, .end_of_sequence = "</s>", .chat_template = ""}).end_of_text(), 259);
  EXPECT_THROW(Tokenizer(bpe).end_of_text(), UserError);
}

TEST(Tokenizer, IsTheSameAfterSavingAndLoading) {
  TemporaryFolder folder;
  tokenizer().save(folder / "tokenizer.json");
  Tokenizer loaded = Tokenizer::load(folder / "tokenizer.json");
  EXPECT_EQ(loaded.hash(), tokenizer().hash());
  EXPECT_EQ(loaded.bpe().tokens, tokenizer().bpe().tokens);
  EXPECT_EQ(loaded.bpe().merges, tokenizer().bpe().merges);
  EXPECT_EQ(loaded.end_of_text(), tokenizer().vocab_size() - 1);
}

TEST(Tokenizer, KeepsAllItHasWhenSavedAndLoaded) {
  TemporaryFolder folder;
  std::string path = folder / "tokenizer.json";
  llama_like().save(path);
  EXPECT_EQ(Tokenizer::load(path).hash(), llama_like().hash());
  Bpe bpe = llama_like().bpe();
  bpe.nfc = true;
  bpe.splitters = {&single_digits(), &gpt2_words()};
  bpe.suffix = {bpe.added[1].id};
  bpe.added[1].lstrip = bpe.added[1].single_word = true;
  bpe.added[0].rstrip = bpe.added[0].normalized = true;
  bpe.added[0].special = false;
  Tokenizer(bpe).save(path);
  Tokenizer loaded = Tokenizer::load(path);
  EXPECT_EQ(loaded.bpe().added, bpe.added);
  EXPECT_EQ(loaded.bpe().suffix, bpe.suffix);
  EXPECT_EQ(loaded.bpe().splitters, bpe.splitters);
  EXPECT_EQ(loaded.hash(), Tokenizer(bpe).hash());
  bpe.splitters = {&gpt2_words()};
  bpe.add_prefix_space = true;
  Tokenizer(bpe).save(path);
  EXPECT_TRUE(Tokenizer::load(path).bpe().add_prefix_space);
  EXPECT_EQ(Tokenizer::load(path).hash(), Tokenizer(bpe).hash());
}

TEST(Tokenizer, HashesWhatChangesTheIds) {
  Bpe bpe = llama_like().bpe();
  std::vector<std::string> hashes = {Tokenizer(bpe).hash()};
  auto with = [&](auto change) {
    Bpe changed = bpe;
    change(changed);
    hashes.push_back(Tokenizer(changed).hash());
  };
  with([](Bpe& b) { b.nfc = true; });
  with([](Bpe& b) { b.ignore_merges = false; });
  with([](Bpe& b) { b.add_prefix_space = true; });
  with([](Bpe& b) { b.splitters = {&gpt2_words()}; });
  with([](Bpe& b) { std::swap(b.merges[0], b.merges[1]); });
  with([](Bpe& b) { b.added[0].lstrip = true; });
  with([](Bpe& b) { b.prefix.clear(); });
  with([](Bpe& b) { std::swap(b.prefix, b.suffix); });
  hashes.push_back(Tokenizer(bpe, {.added = {}, .end_of_sequence = "x", .chat_template = ""}).hash());
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

TEST(Tokenizer, BytesThatAreNoTextSurviveNfc) {
  Bpe bpe = tokenizer().bpe();
  bpe.nfc = true;
  Tokenizer normalizing(bpe);
  EXPECT_EQ(normalizing.decode(normalizing.encode("e\xCC\x81")), "\xC3\xA9");
  std::string broken = "\xff e\xCC \xe2\x82 \xed\xa0\x80 \xf4\x90\x80\x80";
  EXPECT_EQ(normalizing.decode(normalizing.encode(broken)), broken);
}

}  // namespace
}  // namespace tethys
