#include <gmock/gmock.h>

#include "data/index/token_index.h"
#include "data/sources/compressed_testing.h"
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
  void write_packed(const std::string& name, const std::string& text) const {
    write(name, name.ends_with(".gz") ? gzipped(text) : zstandard(text));
  }
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
  write("d.jsonl", "{\"text\": \"!\"}\n{\"text\": \"\\\"<|end_of_text|>\"}\n{\"text\": \"\"}\n");
  EXPECT_EQ(run({"encode", "--documents", path("d.jsonl"), "--as_texts"}).output, "256 0\n256 1 256\n");
  EXPECT_EQ(run({"encode", "--documents", path("d.jsonl"), "--as_texts", "--no-template"}).output, "0\n1 256\n");
  EXPECT_EQ(run({"encode", "--documents", path("d.jsonl"), "--threads", "2"}).output,
            "0 256\n1 27 91 68 77 67 62 78 69 62 83 68 87 83 91 29 256\n");
  EXPECT_THAT(run({"encode", "--documents", path("d.jsonl"), "--summary"}).output,
              ContainsRegex("^documents 2  bytes 17  tokens 19  seconds [0-9.]+  MB/s [0-9.]+\n$"));
}

// What the index of the same file holds is what a run reads.
TEST_F(Tokenizers, EncodeDocumentsToTheIdsThatTrainingSees) {
  write("d.jsonl", "{\"text\": \"!<|end_of_text|>\"}\n{\"text\": \"\"}\nno line\n{\"text\": \"(\\u00e9)\"}\n");
  const TokenIndex index = open_index(
      Tokenizer::load(path("tokenizer.json")),
      {.files = {path("d.jsonl")}, .lines = {.skip_bad_lines = true}, .folder = path("cache"), .validation_share = 0});
  std::vector<uint32_t> ids(static_cast<size_t>(index.training.size()));
  index.training.copy(0, ids);
  std::string lines;
  for (const uint32_t id : ids) lines += fmt::format("{}{}", id, id == 256 ? "\n" : " ");
  ASSERT_EQ(index.training.documents(), 2);
  EXPECT_EQ(run({"encode", "--documents", path("d.jsonl"), "--data.skip_bad_lines"}).output,
            lines + "tethys: " + path("d.jsonl") + ": 1 bad line skipped\n");
}

TEST_F(Tokenizers, EncodeTheDocumentsThatTrainingReads) {
  const std::string lines = "{\"body\": \"!\"}\n3\n{\"body\": \"\\\"\"}\n";
  write_packed("d.jsonl.gz", lines);
  write_packed("d.jsonl.zst", lines);
  for (const char* name : {"d.jsonl.gz", "d.jsonl.zst"}) {
    const std::vector<std::string> encode = {"encode", "--documents", path(name), "--data.text_field", "body"};
    EXPECT_THAT(run(encode).output, HasSubstr("line 2 is no JSON object; expected an object with a text \"body\""));
    EXPECT_EQ(run(encode + Flags{"--data.skip_bad_lines"}).output,
              "0 256\n1 256\ntethys: " + path(name) + ": 1 bad line skipped\n");
  }
  write_packed("d.txt.gz", "!\n\"");
  EXPECT_EQ(run({"encode", "--documents", path("d.txt.gz"), "--as_texts"}).output, run({"encode", "!\n\""}).output);
}

// Of the bytes between the texts of lines none takes part in a merge.
TEST_F(Tokenizers, AreTrainedOnTheDocumentsThatTrainingReads) {
  const std::string text = "the cat and the hat and the bat";
  write("plain.txt", text);
  write_packed("text.zst", text);
  write("lines.jsonl", "{\"text\": \"" + text + "\", \"title\": \"zzzzzzzzzzzz\"}\n");
  write_packed("lines.jsonl.gz", "{\"text\": \"" + text + "\"}\n{\"no text\": 1}\n");
  const auto trained = [&](const std::string& file, const Flags& flags = {}) {
    const Ended ended = run_tethys(
        Flags{"tokenizer", "train", path(file), "--vocab_size", "264", "--output", path("trained.json")} + flags);
    EXPECT_EQ(ended.status, 0) << ended.output;
    EXPECT_EQ(ended.output.find("1 bad line skipped") != std::string::npos, !flags.empty());
    return read_file(path("trained.json"));
  };
  const std::string expected = trained("plain.txt");
  EXPECT_EQ(trained("text.zst"), expected);
  EXPECT_EQ(trained("lines.jsonl"), expected);
  EXPECT_EQ(trained("lines.jsonl.gz", {"--data.skip_bad_lines"}), expected);
}

TEST_F(Tokenizers, NameTheLineThatIsNoDocument) {
  const std::pair<const char*, const char*> cases[] = {
      {"{\"text\": \"a\"}\n\"b\n", "d.jsonl: line 2 is not JSON"},
      {"{\"text\": \"a\"}\n{\"b\": 1}\n", "d.jsonl: line 2 has no \"text\""},
      {"{\"text\": 1}\n", "line 1 has a \"text\" that is no text"},
      {"\"a\"\n", "line 1 is no JSON object"},
      {"\"\xff\"\n", "line 1 is not JSON"},
  };
  for (const auto& [text, message] : cases) {
    write("d.jsonl", text);
    for (const Ended& ended : {run({"encode", "--documents", path("d.jsonl")}),
                               run_tethys({"tokenizer", "train", path("d.jsonl"), "--output", path("x.json")})}) {
      EXPECT_EQ(ended.status, 2);
      EXPECT_THAT(ended.output, HasSubstr(message));
    }
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
