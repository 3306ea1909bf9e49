#include "data/tokenizer/tokenizer.h"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/tokenizer_json.h"
#include "data/tokenizer/train_bpe.h"

namespace tethys {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kGolden = TETHYS_SOURCE_DIR "/tests/golden/tokenizer/";

const Tokenizer& tokenizer() {
  static const Tokenizer shared(train_bpe({kGolden + "corpus.txt"}, {.vocab_size = 600}));
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

TEST(Tokenizer, IsTheSameAfterSavingAndLoading) {
  TemporaryFolder folder;
  tokenizer().save(folder / "tokenizer.json");
  Tokenizer loaded = Tokenizer::load(folder / "tokenizer.json");
  EXPECT_EQ(loaded.hash(), tokenizer().hash());
  EXPECT_EQ(loaded.bpe().tokens, tokenizer().bpe().tokens);
  EXPECT_EQ(loaded.bpe().merges, tokenizer().bpe().merges);
  EXPECT_EQ(loaded.end_of_text(), tokenizer().vocab_size() - 1);
}

// The error of reading our own file after `change` was made to it.
std::string refusal(const std::function<void(json&)>& change) {
  json file = json::parse(write_tokenizer_json(tokenizer().bpe()));
  change(file);
  try {
    parse_tokenizer_json(file.dump(), "t.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TokenizerJson, TakesBothSpellingsOfMerges) {
  EXPECT_EQ(refusal([](json& file) {
              for (json& merge : file["model"]["merges"]) {
                auto text = merge.get<std::string>();
                merge = {text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)};
              }
            }),
            "accepted");
}

TEST(TokenizerJson, NamesWhatIsNotSupported) {
  EXPECT_THAT(refusal([](json& file) {
                file["normalizer"] = {{"type", "NFC"}};
              }),
              HasSubstr("normalizer is {\"type\":\"NFC\"}"));
  EXPECT_THAT(refusal([](json& file) { file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\s+"; }),
              HasSubstr("the split pattern is \"\\\\s+\""));
  EXPECT_THAT(refusal([](json& file) {
                file["pre_tokenizer"] = {{"type", "Whitespace"}};
              }),
              HasSubstr("pre_tokenizer is"));
  EXPECT_THAT(refusal([](json& file) {
                file["post_processor"] = {{"type", "TemplateProcessing"}};
              }),
              HasSubstr("post_processor is"));
  EXPECT_THAT(refusal([](json& file) { file["decoder"] = {{"type", "WordPiece"}}; }), HasSubstr("decoder is"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["type"] = "Unigram"; }), HasSubstr("model is"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["ignore_merges"] = true; }), HasSubstr("ignore_merges is true"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["dropout"] = 0.1; }), HasSubstr("dropout is 0.1"));
  EXPECT_THAT(refusal([](json& file) { file["added_tokens"][0]["lstrip"] = true; }),
              HasSubstr("lstrip of an added token"));
}

TEST(TokenizerJson, RefusesAVocabularyThatIsNotWhole) {
  EXPECT_THAT(refusal([](json& file) { file["model"]["vocab"]["!"] = 1; }), HasSubstr("share the id 1"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["vocab"]["!"] = 100000; }), HasSubstr("has the id 100000"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["vocab"]["!"] = -1; }), HasSubstr("has the id -1"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["vocab"]["!"] = 0.5; }), HasSubstr("has the id 0.5"));
  EXPECT_THAT(refusal([](json& file) {
                file["model"]["vocab"].erase("!");
                file["model"]["vocab"]["!!!!"] = 0;
              }),
              HasSubstr("no token for byte 33"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["merges"].push_back("! !!!"); }),
              HasSubstr("not in the vocabulary"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["merges"].push_back("!"); }),
              HasSubstr("not two byte-level tokens"));
  EXPECT_THAT(refusal([](json& file) { file["added_tokens"][0]["id"] = 7; }), HasSubstr("follow the vocabulary"));
}

TEST(TokenizerJson, RefusesWhatIsNoTokenizer) {
  EXPECT_THAT(refusal([](json& file) { file = json::array(); }), HasSubstr("not an object"));
  EXPECT_THAT(refusal([](json& file) { file.erase("model"); }), HasSubstr("\"model\" is missing"));
  EXPECT_THAT(refusal([](json& file) { file["pre_tokenizer"]["pretokenizers"][0] = 5; }),
              HasSubstr("t.json is not a valid"));
  EXPECT_THAT(refusal([](json& file) { file["model"]["vocab"] = {1, 2}; }), HasSubstr("not an object"));
  EXPECT_THROW(parse_tokenizer_json("{", "t.json"), UserError);
}

}  // namespace
}  // namespace tethys
