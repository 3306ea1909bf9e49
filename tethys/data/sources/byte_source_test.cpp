#include "data/sources/byte_source.h"

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "data/sources/compressed_testing.h"

namespace tethys {
namespace {

using testing::HasSubstr;

// Some of it repeats and some does not, and it is longer than the pieces that are read.
std::string long_text() {
  std::string text;
  uint32_t random = 1;
  while (text.size() < 300'000) {
    random = random * 1664525U + 1013904223U;
    text += random % 3 == 0 ? std::string("the same again ") : std::to_string(random);
  }
  return text;
}

class Bytes : public testing::Test {
 protected:
  std::string unpacked(const std::string& name, const std::string& content, size_t piece = 1 << 16) {
    write_file(folder_ / name, content);
    return read_all(*open_bytes((folder_ / name).string(), piece), size_t{1} << 30).value();
  }
  std::string error_of(const std::string& name, const std::string& content, size_t piece = 1 << 16) {
    try {
      unpacked(name, content, piece);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

TEST_F(Bytes, AreWhatWasPacked) {
  const std::string text = long_text();
  EXPECT_TRUE(unpacked("a.txt", text) == text);
  EXPECT_TRUE(unpacked("a.gz", gzipped(text)) == text);
  EXPECT_TRUE(unpacked("a.zst", zstandard(text)) == text);
  for (const std::string& little : {std::string(), std::string("\0a\n", 3)}) {
    EXPECT_EQ(unpacked("b.txt", little), little);
    EXPECT_EQ(unpacked("b.gz", gzipped(little)), little);
    EXPECT_EQ(unpacked("b.zst", zstandard(little)), little);
  }
}

TEST_F(Bytes, AreTheSameInPiecesOfAnySize) {
  const std::string text = long_text();
  for (size_t piece : {1, 2, 7, 4096}) {
    EXPECT_TRUE(unpacked("a.gz", gzipped(text), piece) == text) << piece;
    EXPECT_TRUE(unpacked("a.zst", zstandard(text), piece) == text) << piece;
  }
}

TEST_F(Bytes, GoOnThroughAllMembersAndFrames) {
  EXPECT_EQ(unpacked("a.gz", gzipped("one ") + gzipped("") + gzipped("two")), "one two");
  EXPECT_EQ(unpacked("a.zst", zstandard("one ") + zstandard("") + zstandard("two")), "one two");
  EXPECT_EQ(unpacked("a.gz", gzipped("one ") + gzipped("two"), 1), "one two");
}

TEST_F(Bytes, AreNotReadWholeWhereThatIsTooMuch) {
  write_file(folder_ / "a.gz", gzipped("seven b"));
  const auto up_to = [&](size_t most) { return read_all(*open_bytes((folder_ / "a.gz").string(), 3), most); };
  EXPECT_EQ(up_to(7), "seven b");
  EXPECT_EQ(up_to(6), std::nullopt);
}

// At every length: none may look like a whole file, and none may hang.
TEST_F(Bytes, OfAFileThatEndsEarlyAreAnError) {
  const std::string text = "a text of some length, of some length";
  for (const auto& [name, whole] : {std::pair("a.gz", gzipped(text)), std::pair("a.zst", zstandard(text))}) {
    for (size_t length = 0; length < whole.size(); ++length) {
      EXPECT_THAT(error_of(name, whole.substr(0, length)), HasSubstr("data ends early")) << name << " " << length;
    }
  }
}

TEST_F(Bytes, WithSomethingElseBehindThemAreAnError) {
  EXPECT_THAT(error_of("a.gz", gzipped("text") + "garbage"), HasSubstr("a.gz: its gzip data is damaged"));
  EXPECT_THAT(error_of("a.zst", zstandard("text") + "garbage"), HasSubstr("a.zst: its zstd data is damaged"));
  EXPECT_THAT(error_of("a.zst", zstandard("text") + "garbage", 1), HasSubstr("a.zst: its zstd data is damaged"));
  EXPECT_THAT(error_of("a.gz", "plain text"), HasSubstr("a.gz: its gzip data is damaged: incorrect header check"));
  EXPECT_THAT(error_of("a.zst", "plain text"), HasSubstr("a.zst: its zstd data is damaged"));
}

TEST_F(Bytes, OfWhichOneIsFlippedAreNeverTakenForOthers) {
  const std::string text = "a text of some length, of some length", whole = gzipped(text);
  size_t unnoticed = 0;
  for (size_t at = 10; at < whole.size(); ++at) {  // past the header, which says little that matters
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    try {
      EXPECT_EQ(unpacked("a.gz", damaged), text) << at;
      ++unnoticed;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::ContainsRegex("a.gz: its gzip data (is damaged|ends early)")) << at;
    }
  }
  EXPECT_LE(unnoticed, 1u);  // bits that fill up the last byte before the checksum
}

// No damage may hang it, crash it or make it give more than a little of what it was not given.
TEST_F(Bytes, OfADamagedFileComeToAnEnd) {
  const std::string text = long_text().substr(0, 20'000);
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    const bool gzip = i % 2 == 0;
    std::string packed = gzip ? gzipped(text) : zstandard(text);
    for (size_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % packed.size();
      random() % 2 == 0 ? void(packed[at] = static_cast<char>(random())) : void(packed.erase(at, random() % 9));
    }
    try {
      EXPECT_LE(unpacked(gzip ? "a.gz" : "a.zst", packed, 1 + random() % 5000).size(), 1'000'000u);
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 75);
}

TEST_F(Bytes, OfNoFileAreAnErrorWithTheReason) {
  for (const char* name : {"none.txt", "none.gz", "none.zst"}) {
    try {
      open_bytes((folder_ / name).string());
      ADD_FAILURE() << name;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(name) + ": No such file"));
    }
  }
}

}  // namespace
}  // namespace tethys
