#include "data/sources/json_lines.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "data/sources/compressed_testing.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Gives what it was given in pieces of a few bytes.
class Pieces : public ByteSource {
 public:
  Pieces(std::string text, size_t piece) : text_(std::move(text)), piece_(piece) {}
  size_t read(std::span<char> out) override {
    const size_t n = std::min({piece_, out.size(), text_.size() - at_});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), n, out.begin());
    at_ += n;
    return n;
  }
  int64_t position() const override { return static_cast<int64_t>(at_); }

 private:
  std::string text_;
  size_t piece_;
  size_t at_ = 0;
};

std::vector<Line> lines_of(const std::string& text, size_t piece = 1 << 16, size_t longest = kLongestLine) {
  JsonLines file(std::make_unique<Pieces>(text, piece), longest);
  std::vector<Line> lines;
  for (Line line; file.next(line);) lines.push_back(line);
  return lines;
}

std::string document(const std::string& line, const LineOptions& options = {}) {
  return document_in({.number = 1, .text = line, .wrong = ""}, "a.jsonl", options).value_or("nothing");
}

std::string error_of(const std::string& line, const LineOptions& options = {}) {
  try {
    return "no error: " + document(line, options);
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(JsonLines, AreNumberedAndBlankOnesPassedOver) {
  for (size_t piece : {1, 2, 5, 1000}) {
    const std::vector<Line> lines = lines_of("{}\n\n \t\r\n[1]\r\nlast", piece);
    ASSERT_EQ(lines.size(), 3u) << piece;
    EXPECT_EQ(lines[0].text, "{}");
    EXPECT_EQ(lines[1].text, "[1]\r");
    EXPECT_EQ(lines[1].number, 4);
    EXPECT_EQ(lines[2].text, "last");
    EXPECT_EQ(lines[2].number, 5);
  }
  EXPECT_TRUE(lines_of("").empty());
  EXPECT_EQ(lines_of("a\n").size(), 1u);
}

TEST(JsonLines, BeyondTheLimitAreCutAndTheNextIsWhole) {
  for (size_t piece : {1, 3, 1000}) {
    const std::vector<Line> lines = lines_of("12345\n123456\n1234567890\nend", piece, 5);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[0].wrong, "");
    EXPECT_NE(lines[1].wrong, "");
    EXPECT_EQ(lines[2].text, "12345");
    EXPECT_EQ(lines[3].wrong, "");
    EXPECT_EQ(lines[3].text, "end");
    try {
      document_in(lines[1], "a.jsonl", {});
      ADD_FAILURE() << "it was taken";
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.jsonl: line 2 is longer than the 5 bytes that a line may have"));
    }
    EXPECT_FALSE(document_in(lines[1], "a.jsonl", {.skip_bad_lines = true}));
  }
}

TEST(JsonLines, AreKnownByTheirName) {
  for (const char* name : {"a.jsonl", "b/a.jsonl.gz", "a.jsonl.zst"}) EXPECT_TRUE(is_json_lines(name)) << name;
  for (const char* name : {"a.json", "a.txt", "a.gz", "jsonl", "a.jsonl.bz2", "a.jsonl/b"}) {
    EXPECT_FALSE(is_json_lines(name)) << name;
  }
}

TEST(Document, IsTheNamedMemberOfTheObjectItself) {
  EXPECT_EQ(document(R"({"text": "a\nb\u00e9\ud83d\ude00\"", "id": 3})"), "a\nb\u00e9\U0001F600\"");
  EXPECT_EQ(document(R"({"meta": {"text": "inner"}, "list": ["text", {"text": 1}], "text": "outer"})"), "outer");
  EXPECT_EQ(document(R"({"text": "outer", "meta": {"text": "inner", "x": ["text", "y"]}})"), "outer");
  EXPECT_EQ(document(R"({"text": "a", "body": "b"})", {.text_field = "body"}), "b");
  EXPECT_EQ(document(R"({"text": ""})"), "");
  EXPECT_EQ(document("  {\"text\":\"a\"} \r"), "a");
}

// As Python's json takes them.
TEST(Document, IsTheLastOfSeveralMembersOfOneName) {
  EXPECT_EQ(document(R"({"text": "a", "text": "b"})"), "b");
  EXPECT_EQ(document(R"({"text": 5, "text": "b"})"), "b");
  EXPECT_THAT(error_of(R"({"text": "a", "text": ["b"]})"), HasSubstr("has a \"text\" that is no text"));
}

TEST(Document, ALineWithoutOneIsNamedOrSkipped) {
  const std::string deep(1'000'000, '[');
  const std::pair<std::string, std::string> cases[] = {
      {"plain words", "is not JSON"},
      {R"({"text": "a")", "is not JSON"},
      {R"({"text": "a"} {"text": "b"})", "is not JSON"},
      {R"({"text": "a",})", "is not JSON"},
      {R"({'text': 'a'})", "is not JSON"},
      {R"({"text": "a\ud800"})", "is not JSON"},
      {R"({"text": NaN})", "is not JSON"},
      {"{\"text\": \"\xff\xfe\"}", "is not JSON"},
      {"{\"text\": \"\xc0\x80\"}", "is not JSON"},
      {"{\"text\": \"cut \xe2\x82\"}", "is not JSON"},
      {std::string("{\"text\": \"a\"}\0garbage", 21), "is not JSON: it holds a NUL byte"},
      {std::string("{\"text\": \"a\0b\"}", 15), "is not JSON: it holds a NUL byte"},
      {std::string(1, '\0'), "is not JSON: it holds a NUL byte"},
      {deep, "is not JSON"},
      {R"({"text": )" + deep, "is not JSON"},
      {deep + std::string(deep.size(), ']'), "is no JSON object"},
      {R"("text")", "is no JSON object"},
      {R"(["text", "a"])", "is no JSON object"},
      {R"([{"text": "a"}])", "is no JSON object"},
      {"null", "is no JSON object"},
      {"{}", "has no \"text\""},
      {R"({"Text": "a"})", "has no \"text\""},
      {R"({"meta": {"text": "a"}})", "has no \"text\""},
      {R"({"text": null})", "has a \"text\" that is no text"},
      {R"({"text": 5})", "has a \"text\" that is no text"},
      {R"({"text": ["a"]})", "has a \"text\" that is no text"},
      {R"({"text": {"text": "a"}})", "has a \"text\" that is no text"},
  };
  for (const auto& [line, message] : cases) {
    EXPECT_THAT(error_of(line), HasSubstr("a.jsonl: line 1 " + message)) << line.substr(0, 80);
    EXPECT_EQ(document(line, {.skip_bad_lines = true}), "nothing") << line.substr(0, 80);
  }
}

// What a parse of the whole line says of its text.
std::string by_parse(const std::string& line) {
  const nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
  if (!value.is_object() || !value.contains("text") || !value["text"].is_string()) return "nothing";
  return value["text"].get<std::string>();
}

TEST(Document, OfALineThatWasTamperedWithIsThatOfAParse) {
  const std::string seeds[] = {
      R"({"text": "a \u00e9 \ud83d\ude00 \n", "meta": {"text": [1, -2.5e3, null, true, {"text": ""}]}})",
      R"({"id": 12, "tags": ["text", "x"], "text": "one", "text": "two"})",
      "{\"text\": \"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\", \"n\": [[[[]]], {}]}",
  };
  std::mt19937 random(7);
  const auto below = [&](size_t bound) { return random() % bound; };
  const std::string likely = "{}[]\",:\\tu0 e-\xff\xc3";
  int taken = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string line = seeds[below(3)];
    for (size_t changes = below(4); changes > 0 && !line.empty(); --changes) {
      const size_t at = below(line.size());
      switch (below(4)) {
        case 0: line[at] = likely[below(likely.size())]; break;
        case 1: line[at] = static_cast<char>(1 + below(255)); break;
        case 2: line.erase(at, 1 + below(8)); break;
        default: line.insert(at, line.substr(below(line.size()), below(12)));
      }
    }
    const std::string expected = by_parse(line);
    ASSERT_EQ(document(line, {.skip_bad_lines = true}), expected) << line;
    ++(expected == "nothing" ? refused : taken);
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(JsonLines, OfACompressedFileAreThoseOfThePlainOne) {
  TemporaryFolder folder;
  const std::string text = "{\"text\": \"a\"}\n{\"text\": \"b\"}";
  for (const auto& [name, content] : {std::pair("a.jsonl", text), std::pair("a.jsonl.gz", gzipped(text)),
                                      std::pair("a.jsonl.zst", zstandard(text))}) {
    write_file(folder / name, content);
    JsonLines file((folder / name).string());
    std::vector<std::string> documents;
    for (Line line; file.next(line);) documents.push_back(document_in(line, name, {}).value_or("nothing"));
    EXPECT_THAT(documents, ElementsAre("a", "b")) << name;
  }
}

}  // namespace
}  // namespace tethys
