#include "data/tokenizer/tokenizer_json.h"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokenizer/train_bpe.h"

namespace tethys {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Bytes, "lo" and "low", and two added tokens: 256 to 259.
json valid() {
  Bpe bpe = learn_merges({{"low", 2}}, {.vocab_size = 260, .specials = {"<|begin|>", kEndOfText}});
  bpe.prefix = {258};
  return json::parse(write_tokenizer_json(bpe));
}

std::string refusal_of(std::string_view text) {
  try {
    parse_tokenizer_json(text, "t.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

// The error of reading a file after `change` was made to it.
std::string refusal(const std::function<void(json&)>& change) {
  json file = valid();
  change(file);
  return refusal_of(file.dump());
}

json split(const std::string& regex) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
}

json byte_level(bool use_regex, bool add_prefix_space = false) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"use_regex", use_regex}};
}

TEST(TokenizerJson, TakesBothSpellingsOfMerges) {
  EXPECT_EQ(refusal([](json& file) {
              file["model"]["merges"] = json::array({json::array({"l", "o"}), json::array({"lo", "w"})});
            }),
            "accepted");
}

TEST(TokenizerJson, TakesThePartsThatDoNotChangeIds) {
  EXPECT_EQ(refusal([](json& file) {
              file["post_processor"] = {
                  {"type", "Sequence"},
                  {"processors", {{{"type", "ByteLevel"}, {"trim_offsets", true}}, file["post_processor"]}}};
              file["model"]["unk_token"] = "low";
              file["model"]["fuse_unk"] = true;
              file["model"]["dropout"] = 0.0;
              file["model"]["end_of_word_suffix"] = "";
              file["model"].erase("type");
              file.erase("truncation");
              file["decoder"] = {{"type", "Sequence"}, {"decoders", {byte_level(true)}}};
              file["a key of tomorrow"] = 5;
            }),
            "accepted");
}

TEST(TokenizerJson, TakesByteLevelAloneAsGpt2Splits) {
  json file = valid();
  file["pre_tokenizer"] = byte_level(true, true);
  Bpe bpe = parse_tokenizer_json(file.dump(), "t.json");
  EXPECT_THAT(bpe.splitters, ElementsAre(&gpt2_words()));
  EXPECT_TRUE(bpe.add_prefix_space);
  file["pre_tokenizer"] = byte_level(false);
  EXPECT_THAT(parse_tokenizer_json(file.dump(), "t.json").splitters, testing::IsEmpty());
}

TEST(TokenizerJson, TakesAddedTokensThatStandInTheVocabulary) {
  json file = valid();
  file["model"]["vocab"]["<|begin|>"] = 258;
  file["model"]["vocab"]["▁é"] = 259;  // not in the byte-level alphabet
  file["added_tokens"][1] = {{"id", 259}, {"content", "▁é"}, {"special", true}};
  Tokenizer tokenizer(parse_tokenizer_json(file.dump(), "t.json"));
  EXPECT_EQ(tokenizer.vocab_size(), 260);
  EXPECT_THAT(tokenizer.encode("<|begin|>low▁é", Template::Leave), ElementsAre(258, 257, 259));
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{259, 258}), "▁é<|begin|>");
  EXPECT_EQ(Tokenizer(parse_tokenizer_json(write_tokenizer_json(tokenizer.bpe()), "t.json")).hash(), tokenizer.hash());
}

struct Malformed {
  const char* what;
  std::function<void(json&)> change;
  const char* message;  // what the error says besides the name of the file
};

const Malformed kMalformed[] = {
    {"no object", [](json& f) { f = json::array(); }, "the top level is []; expected an object"},
    {"no model", [](json& f) { f.erase("model"); }, "model is missing"},
    {"no vocab", [](json& f) { f["model"].erase("vocab"); }, "model.vocab is missing"},
    {"no merges", [](json& f) { f["model"].erase("merges"); }, "model.merges is missing"},
    {"no pre-tokenizer", [](json& f) { f["pre_tokenizer"] = nullptr; }, "pre_tokenizer is null"},
    {"no decoder", [](json& f) { f["decoder"] = nullptr; }, "decoder is null"},
    {"a list as vocab",
     [](json& f) {
       f["model"]["vocab"] = {1, 2};
     },
     "model.vocab is [1,2]"},
    {"a type that is a number", [](json& f) { f["model"]["type"] = 5; }, "model.type is 5; expected a text"},
    {"an id taken twice", [](json& f) { f["model"]["vocab"]["!"] = 1; }, "share the id 1"},
    {"a hole", [](json& f) { f["model"]["vocab"]["low"] = 258; }, "\"low\" has the id 258; expected 0 to 257"},
    {"a negative id", [](json& f) { f["model"]["vocab"]["!"] = -1; }, "has the id -1"},
    {"a fraction as id", [](json& f) { f["model"]["vocab"]["!"] = 0.5; }, "has the id 0.5"},
    {"an id beyond int32", [](json& f) { f["model"]["vocab"]["!"] = int64_t{1} << 40; }, "has the id 1099511627776"},
    {"an id beyond int64", [](json& f) { f["model"]["vocab"]["!"] = 1e30; }, "has the id 1e+30"},
    {"an id that is a text", [](json& f) { f["model"]["vocab"]["!"] = "0"; }, "has the id \"0\""},
    {"a token outside of the alphabet", [](json& f) { f["model"]["vocab"]["海"] = 258; }, "\"海\" is not written"},
    {"an empty token", [](json& f) { f["model"]["vocab"][""] = 258; }, "\"\" is not written"},
    {"a byte without a token",
     [](json& f) {
       f["model"]["vocab"].erase("!");
       f["model"]["vocab"]["!!!!"] = 0;
     },
     "no token for byte 33"},
    {"a merge of an unknown token", [](json& f) { f["model"]["merges"].push_back("! ??"); }, "model.merges[2]"},
    {"a merge to an unknown token", [](json& f) { f["model"]["merges"].push_back("! !"); }, "together are one"},
    {"a merge of one", [](json& f) { f["model"]["merges"].push_back("lo"); }, "model.merges[2] is \"lo\""},
    {"a merge of three",
     [](json& f) {
       f["model"]["merges"].push_back({"l", "o", "w"});
     },
     "model.merges[2]"},
    {"a merge of numbers",
     [](json& f) {
       f["model"]["merges"].push_back({1, 2});
     },
     "model.merges[2][0] is 1"},
    {"a merge that is an object", [](json& f) { f["model"]["merges"].push_back(json::object()); }, "model.merges[2]"},
    {"merges that are a text", [](json& f) { f["model"]["merges"] = "l o"; }, "model.merges is \"l o\""},
    {"an added token with the id of another", [](json& f) { f["added_tokens"][0]["id"] = 7; }, "to another token"},
    {"two added tokens of one id", [](json& f) { f["added_tokens"][1]["id"] = 258; }, "has the id 258"},
    {"an added token twice", [](json& f) { f["added_tokens"][1]["content"] = "<|begin|>"; },
     "no second added token \"<|begin|>\""},
    {"an added token after a hole", [](json& f) { f["added_tokens"][1]["id"] = 300; }, "follow the vocabulary"},
    {"an added token with a huge id", [](json& f) { f["added_tokens"][1]["id"] = int64_t{1} << 31; },
     "added_tokens[1].id"},
    {"an added token with half an id", [](json& f) { f["added_tokens"][1]["id"] = 259.5; },
     "added_tokens[1].id is 259.5"},
    {"an added token without text", [](json& f) { f["added_tokens"][1].erase("content"); }, "content is missing"},
    {"an empty added token", [](json& f) { f["added_tokens"][1]["content"] = ""; }, "added_tokens[1].content is \"\""},
    {"a flag that is a text", [](json& f) { f["added_tokens"][1]["lstrip"] = "no"; },
     "added_tokens[1].lstrip is \"no\""},
    {"added tokens that are an object",
     [](json& f) {
       f["added_tokens"] = {{"a", 1}};
     },
     "added_tokens is"},
    {"another normaliser",
     [](json& f) {
       f["normalizer"] = {{"type", "Lowercase"}};
     },
     "normalizer is {\"type\":\"Lowercase\"}, which is not supported; expected none or NFC"},
    {"one normaliser of several",
     [](json& f) {
       f["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}};
     },
     "normalizer.normalizers[1] is"},
    {"another pre-tokenizer",
     [](json& f) {
       f["pre_tokenizer"] = {{"type", "Whitespace"}};
     },
     "pre_tokenizer is"},
    {"an unknown pattern", [](json& f) { f["pre_tokenizer"]["pretokenizers"][0] = split("\\s+"); },
     "pre_tokenizer.pretokenizers[0].pattern.Regex is \"\\\\s+\", which is not supported; expected the pattern of one"},
    {"a pattern that is a text",
     [](json& f) {
       f["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"String", " "}};
     },
     "pattern is {\"String\":\" \"}"},
    {"another behavior", [](json& f) { f["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "MergedWithNext"; },
     "behavior Isolated"},
    {"digits that are removed",
     [](json& f) {
       json digits = split("\\p{N}");
       digits["behavior"] = "Removed";
       digits["invert"] = true;
       f["pre_tokenizer"]["pretokenizers"][0] = digits;
     },
     "behavior Isolated"},
    {"a step that is a number", [](json& f) { f["pre_tokenizer"]["pretokenizers"][0] = 5; }, "pretokenizers[0] is 5"},
    {"no ByteLevel at the end", [](json& f) { f["pre_tokenizer"]["pretokenizers"].erase(1); }, "pre_tokenizer is"},
    {"no steps at all", [](json& f) { f["pre_tokenizer"]["pretokenizers"] = json::array(); }, "pre_tokenizer is"},
    {"a prefix space for every piece", [](json& f) { f["pre_tokenizer"]["pretokenizers"][1] = byte_level(true, true); },
     "add_prefix_space false"},
    {"another post-processor",
     [](json& f) {
       f["post_processor"] = {{"type", "BertProcessing"}};
     },
     "post_processor is"},
    {"a template without the text", [](json& f) { f["post_processor"]["single"].erase(1); }, "post_processor.single"},
    {"a template with the text twice",
     [](json& f) { f["post_processor"]["single"][0] = f["post_processor"]["single"][1]; }, "post_processor.single"},
    {"a template with an unknown token", [](json& f) { f["post_processor"]["special_tokens"] = json::object(); },
     "post_processor.special_tokens.<|begin|> is missing"},
    {"a template with an unknown id",
     [](json& f) { f["post_processor"]["special_tokens"]["<|begin|>"]["ids"] = {260}; },
     "ids[0] is 260; expected an id of the vocabulary, below 260"},
    {"another decoder",
     [](json& f) {
       f["decoder"] = {{"type", "WordPiece"}};
     },
     "decoder is"},
    {"Unigram", [](json& f) { f["model"]["type"] = "Unigram"; }, "model.type is \"Unigram\", which is not supported"},
    {"WordPiece", [](json& f) { f["model"]["type"] = "WordPiece"; }, "model.type is \"WordPiece\""},
    {"the end of a word, as CLIP marks it", [](json& f) { f["model"]["end_of_word_suffix"] = "</w>"; },
     "model.end_of_word_suffix is \"</w>\""},
    {"byte fallback", [](json& f) { f["model"]["byte_fallback"] = true; }, "model.byte_fallback is true"},
    {"dropout", [](json& f) { f["model"]["dropout"] = 0.1; }, "model.dropout is 0.1"},
    {"truncation",
     [](json& f) {
       f["truncation"] = {{"max_length", 5}};
     },
     "truncation is"},
    {"padding",
     [](json& f) {
       f["padding"] = {{"length", 5}};
     },
     "padding is"},
};

TEST(TokenizerJson, NamesThePartThatIsMalformedOrNotSupported) {
  ASSERT_EQ(refusal([](json&) {}), "accepted");
  for (const Malformed& malformed : kMalformed) {
    EXPECT_THAT(refusal(malformed.change), AllOf(StartsWith("t.json"), HasSubstr(malformed.message))) << malformed.what;
  }
}

TEST(TokenizerJson, RefusesTextThatIsNoJson) {
  std::string text = valid().dump();
  EXPECT_THAT(refusal_of(""), HasSubstr("t.json is not valid JSON"));
  EXPECT_THAT(refusal_of("tokenizer"), HasSubstr("t.json is not valid JSON"));
  EXPECT_THAT(refusal_of("{\"model\": \"\xff\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal_of("{\"model\": 1e999}"), HasSubstr("1e999"));
  EXPECT_THAT(refusal_of(text + "x"), HasSubstr("t.json is not valid JSON"));
  EXPECT_THAT(refusal_of(std::string(1'000'000, '[')), HasSubstr("nests deeper than 64 levels"));
  EXPECT_THAT(refusal_of("{\"model\":" + std::string(70, '[') + std::string(70, ']') + "}"), HasSubstr("nests deeper"));
  for (size_t size = 0; size < text.size(); size += 37) {  // truncated
    ASSERT_THAT(refusal_of(std::string_view(text).substr(0, size)), HasSubstr("t.json is not valid JSON"));
  }
}

// Every value of the file in turn is replaced by values of other kinds: that is read, or refused as the user's mistake.
void replace_each(json& value, json& file, int& refused) {
  const json others[] = {nullptr, true, -1, 5, 1e300, "", "x", json::array(), {1}, json::object(), {{"type", "x"}}};
  json saved = value;
  for (const json& other : others) {
    value = other;
    std::string message = refusal_of(file.dump());
    if (message != "accepted") {
      ++refused;
      EXPECT_THAT(message, StartsWith("t.json"));
    }
  }
  value = saved;
  if (value.is_structured()) {
    size_t seen = 0;
    for (json& inner : value) {
      if (++seen <= 8) replace_each(inner, file, refused);
    }
  }
}

TEST(TokenizerJson, RefusesAnyPartOfAnotherKindAsTheUsersMistake) {
  json file = valid();
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}};
  int refused = 0;
  replace_each(file, file, refused);
  EXPECT_GT(refused, 400);
}

class ConfigFolder : public testing::Test {
 protected:
  ConfigFolder() { write_file(folder_ / "tokenizer.json", valid().dump()); }
  Tokenizer load() const { return Tokenizer::load(folder_ / "tokenizer.json"); }
  std::string error_of_load() const {
    try {
      load();
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
  void write(const std::string& name, const std::string& text) { write_file(folder_ / name, text); }

  TemporaryFolder folder_;
};

TEST_F(ConfigFolder, MayAddTokensAndNameTheEndOfSequence) {
  write("tokenizer_config.json",
        R"({"added_tokens_decoder": {"261": {"content": "<tool>"}, "258": {"content": "<|begin|>"},
    "260": {"content": "<|eot|>", "special": true}}, "eos_token": {"content": "<|eot|>"}, "chat_template": "a"})");
  Tokenizer tokenizer = load();
  EXPECT_EQ(tokenizer.vocab_size(), 262);
  EXPECT_THAT(tokenizer.encode("low<tool><|eot|>"), ElementsAre(258, 257, 261, 260));
  EXPECT_THAT(tokenizer.stops(), ElementsAre(259, 260));
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{261, 260}, Specials::Skip), "<tool>");
  EXPECT_EQ(tokenizer.chat_template(), "a");
}

// As transformers finds them: https://huggingface.co/docs/transformers/main_classes/text_generation, GenerationConfig.
TEST_F(ConfigFolder, NamesTheIdsThatEndWhatAModelSays) {
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"260": {"content": "<|eot|>", "special": true}},
    "eos_token": "<|eot|>"})");
  EXPECT_THAT(load().stops(), ElementsAre(259, 260));
  write("config.json", R"({"eos_token_id": 258})");
  EXPECT_THAT(load().stops(), ElementsAre(258));
  write("config.json", R"({"eos_token_id": [258, 260]})");
  EXPECT_THAT(load().stops(), ElementsAre(258, 260));
  write("generation_config.json", R"({"eos_token_id": 260})");
  EXPECT_THAT(load().stops(), ElementsAre(260));
  write("generation_config.json", R"({"eos_token_id": [260, 257, 4000]})");
  EXPECT_THAT(load().stops(), ElementsAre(260, 257, 4000));
  for (const char* none : {R"({"eos_token_id": null})", R"({"eos_token_id": []})", "{}"}) {
    write("generation_config.json", none);
    EXPECT_THAT(load().stops(), ElementsAre(259, 260)) << none;
  }
  EXPECT_EQ(load().end_of_text(), 259);  // what documents are ended by, whatever stops the model
  write("generation_config.json", R"({"eos_token_id": "<|eot|>"})");
  EXPECT_THAT(error_of_load(), testing::HasSubstr("generation_config.json: eos_token_id is \"<|eot|>\"; expected"));
}

TEST_F(ConfigFolder, ATemplateOfItsOwnFileWins) {
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "rag", "template": "r"}, {"name": "default", "template": "d"}]})");
  EXPECT_EQ(load().chat_template(), "d");
  write("chat_template.jinja", "{{ messages }}");
  EXPECT_EQ(load().chat_template(), "{{ messages }}");
}

TEST_F(ConfigFolder, NamesWhatDoesNotFit) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "the top level is []"},
      {"{", "not valid JSON"},
      {R"({"added_tokens_decoder": []})", "added_tokens_decoder is []"},
      {R"({"added_tokens_decoder": {"x": {"content": "y"}}})", "\"x\" is no token id"},
      {R"({"added_tokens_decoder": {"-1": {"content": "y"}}})", "\"-1\" is no token id"},
      {R"({"added_tokens_decoder": {"99999999999": {"content": "y"}}})", "\"99999999999\" is no token id"},
      {R"({"added_tokens_decoder": {"260": 5}})", "added_tokens_decoder.260 is 5"},
      {R"({"added_tokens_decoder": {"300": {"content": "y"}}})", "expected 260, as added tokens follow"},
      {R"({"added_tokens_decoder": {"258": {"content": "y"}}})", "\"y\" has the id 258, but \"<|begin|>\" has it"},
      {R"({"added_tokens_decoder": {"261": {"content": "<|begin|>"}}})",
       "has the id 261, but it has the id 258 already"},
      {R"({"eos_token": 5})", "eos_token is 5"},
      {R"({"chat_template": 5})", "chat_template is 5"},
  };
  for (const auto& [text, message] : cases) {
    write("tokenizer_config.json", text);
    EXPECT_THAT(error_of_load(), AllOf(HasSubstr("tokenizer_config.json"), HasSubstr(message))) << text;
  }
}

}  // namespace
}  // namespace tethys
