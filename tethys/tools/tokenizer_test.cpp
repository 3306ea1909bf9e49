#include <gmock/gmock.h>

#include "tools/testing.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

// A tokenizer of bytes alone that begins each text with <|end_of_text|>, its token 256.
class Tokenizers : public testing::Test {
 protected:
  Tokenizers() {
    write("text.txt", "xy");
    run_tethys({"tokenizer", "train", path("text.txt"), "--vocab_size", "257", "--output", path("tokenizer.json")});
    std::string file = read_file(path("tokenizer.json"));
    const std::string none = "\"post_processor\": null";
    file.replace(file.find(none), none.size(), R"("post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "e", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "special_tokens": {"e": {"id": "e", "ids": [256], "tokens": ["e"]}}})");
    write("tokenizer.json", file);
  }

  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const { write_file(path(name), text); }
  Ended run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "tokenizer");
    arguments.insert(arguments.end(), {"--tokenizer", path("tokenizer.json")});
    return run_tethys(arguments);
  }

  TemporaryFolder folder_;
};

TEST_F(Tokenizers, EncodeWithTheTemplateOrWithout) {
  EXPECT_EQ(run({"encode", "!\""}).output, "256 0 1\n");
  EXPECT_EQ(run({"encode", "!\"", "--no-template"}).output, "0 1\n");
}

TEST_F(Tokenizers, EncodeEachDocumentOfAFile) {
  write("d.jsonl", "\"!\"\n{\"text\": \"\\\"<|end_of_text|>\"}\n\"\"\n");
  EXPECT_EQ(run({"encode", "--documents", path("d.jsonl")}).output, "256 0\n256 1 256\n256\n");
  EXPECT_EQ(run({"encode", "--documents", path("d.jsonl"), "--no-template", "--threads", "2"}).output, "0\n1 256\n\n");
  EXPECT_THAT(run({"encode", "--documents", path("d.jsonl"), "--summary"}).output,
              ContainsRegex("^documents 3  bytes 17  tokens 6  seconds [0-9.]+  MB/s [0-9.]+\n$"));
}

TEST_F(Tokenizers, NameTheLineThatIsNoDocument) {
  const std::pair<const char*, const char*> cases[] = {
      {"\"a\"\n\"b\n", "d.jsonl: line 2 is not JSON"},
      {"\"a\"\n{\"b\": 1}\n", "d.jsonl: line 2 is neither a text nor an object with a \"text\""},
      {"{\"text\": 1}\n", "line 1 is neither"},
      {"\"\xff\"\n", "line 1 is not JSON"},
  };
  for (const auto& [text, message] : cases) {
    write("d.jsonl", text);
    const Ended ended = run({"encode", "--documents", path("d.jsonl")});
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, HasSubstr(message));
  }
}

TEST_F(Tokenizers, NameTheFileThatCannotBeRead) {
  for (const std::string& file : {path("none.jsonl"), folder_.path().string()}) {
    const Ended ended = run({"encode", "--documents", file});
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, AllOf(HasSubstr(file), ContainsRegex("o such file|irectory")));
  }
}

TEST_F(Tokenizers, DecodeWithSpecialTokensOrWithout) {
  EXPECT_EQ(run({"decode", "256", "0"}).output, "<|end_of_text|>!\n");
  EXPECT_EQ(run({"decode", "256", "0", "--skip-special"}).output, "!\n");
  EXPECT_THAT(run({"decode", "257"}).output, HasSubstr("cannot decode the id 257: the vocabulary has 257 ids"));
}

}  // namespace
}  // namespace tethys
