#include "data/sources/parquet.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "data/chat/conversation.h"
#include "data/index/token_index.h"
#include "data/tokenizer/train_bpe.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The component, which is beside this program.
std::string reader() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / kParquetReader).string();
}

LineOptions read_by_it(LineOptions options = {}) {
  options.parquet_reader = reader();
  return options;
}

TEST(ParquetFile, IsKnownByItsName) {
  for (const char* name : {"a.parquet", "b/a.parquet", "a.parquet.gz"}) EXPECT_TRUE(is_parquet(name)) << name;
  for (const char* name : {"a.txt", "parquet", "a.parquet/b", "a.jsonl"}) EXPECT_FALSE(is_parquet(name)) << name;
  EXPECT_TRUE(holds_lines("a.jsonl.zst"));
  EXPECT_FALSE(holds_lines("a.txt.zst"));
}

TEST(ParquetFile, ItsRowsAreSoByWhatMadeThemAndNotByTheNameOfAFile) {
  const Line row{.is_row = true, .number = 7, .text = "{}", .wrong = ""},
      line{.number = 7, .text = R"({"text": "a"})", .wrong = ""};
  EXPECT_EQ(place_of(row, "a"), "a: row 7");
  EXPECT_EQ(document_in(row, "a", {}), "{}");
  EXPECT_EQ(place_of(line, "a.parquet"), "a.parquet: line 7");
  EXPECT_EQ(document_in(line, "a.parquet", {}), "a");
}

std::string refusal_of(const std::string& reader) {
  try {
    open_line_source("a.parquet", {.parquet_reader = reader});
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was opened";
}

TEST(ParquetFile, WithoutAReaderOrWithADamagedOneIsRefused) {
  const TemporaryFolder folder;
  const std::string reader = (folder / "reader.so").string();
  EXPECT_EQ(refusal_of(reader),
            "cannot read a.parquet: the reader of Parquet is not there: run `make parquet` (there "
            "is no " +
                reader + ")");
  const std::string library = read_file("/proc/self/exe");
  int count = 0;
  for (const std::string& content : {library.substr(0, 70000), library.substr(0, 5000), library.substr(0, 50),
                                     std::string(), std::string("text"), std::string(70000, '\0'), library}) {
    const std::string file = (folder / fmt::format("{}.so", count++)).string();  // each is loaded once
    write_file(file, content);
    EXPECT_THAT(refusal_of(file),
                AllOf(HasSubstr("the reader of Parquet, " + file + ", is damaged: run `make parquet`"),
                      Not(HasSubstr("not there"))));
  }
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const Path& other : {folder / "pipe", folder.path()}) {
    EXPECT_THAT(refusal_of(other), HasSubstr("is no regular file"));
  }
}

TEST(ParquetFile, ThatIsPackedIsRefused) {
  try {
    open_line_source("a.parquet.gz", {});
    ADD_FAILURE() << "it was opened";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.parquet.gz is a packed Parquet file"));
  }
}

// The files are those of tests/golden/parquet/generate.py.
class Parquet : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(reader())) GTEST_SKIP() << "`make parquet` builds what it tests";
    EXPECT_THAT(parquet_component(reader()), testing::StartsWith("Arrow "));
  }

  static std::string golden(const std::string& name) {
    return fmt::format("{}/tests/golden/parquet/{}.parquet", TETHYS_SOURCE_DIR, name);
  }

  // "-" for a row that is skipped.
  static std::vector<std::string> documents(const std::string& path, const LineOptions& options = {}) {
    std::vector<std::string> found;
    const auto rows = open_line_source(path, read_by_it(options));
    for (Line line; rows->next(line);) {
      EXPECT_TRUE(line.is_row);
      EXPECT_EQ(line.number, static_cast<int64_t>(found.size()) + 1);
      found.push_back(document_in(line, path, options).value_or("-"));
    }
    return found;
  }

  static std::string error_of(const std::string& path, const LineOptions& options = {}) {
    try {
      return fmt::format("no error: {} rows", documents(path, options).size());
    } catch (const UserError& error) {
      return error.what();
    }
  }

  // Without the wait for the disk that write_file has, and so has writing over a file.
  std::string written(const std::string& content) const {
    const std::string path = (folder_ / "a.parquet").string();
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  TemporaryFolder folder_;
};

TEST_F(Parquet, GivesTheSameTextsOfEveryTypeThatHoldsText) {
  for (const char* column : {"text", "large", "view", "dictionary"}) {
    EXPECT_THAT(documents(golden("types"), {.text_field = column}),
                ElementsAre("one", "", "zwölf € \U0001F600", "two\nlines", "one"))
        << column;
  }
}

TEST_F(Parquet, ANullIsNamedOrSkipped) {
  for (const std::string column : {"holes", "dictionary_holes"}) {
    EXPECT_THAT(error_of(golden("types"), {.text_field = column}),
                HasSubstr(fmt::format("types.parquet: row 2 has a \"{0}\" that is null; expected a text in the column "
                                      "\"{0}\" (data.text_field), or --data.skip_bad_lines",
                                      column)));
    EXPECT_THAT(documents(golden("types"), {.text_field = column, .skip_bad_lines = true}),
                ElementsAre("one", "-", "zwölf € \U0001F600", "-", "one"));
  }
}

TEST_F(Parquet, TextThatIsNotUtf8IsNamedOrSkipped) {
  EXPECT_THAT(error_of(golden("bad_text")), HasSubstr("bad_text.parquet: row 2 has a \"text\" that is not UTF-8"));
  EXPECT_THAT(documents(golden("bad_text"), {.skip_bad_lines = true}), ElementsAre("before", "-", "after"));
}

TEST_F(Parquet, RowGroupsAndPagesFollowOneAnotherAndTellHowFarTheyAre) {
  const std::string path = golden("groups");
  const auto size = static_cast<int64_t>(read_file(path).size());
  const auto rows = open_line_source(path, read_by_it());
  EXPECT_EQ(rows->position(), 0);
  int64_t last = 0;
  for (Line line; rows->next(line);) {
    const int64_t i = line.number - 1;
    std::string text = fmt::format("document {}:", i);
    for (int64_t k = 0; k < i / 4; ++k) text += fmt::format(" {}", i * k * 7919 % 1000003);
    ASSERT_EQ(document_in(line, path, {}), text);
    EXPECT_EQ(rows->position(), size * line.number / 300);
    last = line.number;
  }
  EXPECT_EQ(last, 300);
  EXPECT_EQ(rows->position(), size);
}

// Bytes of this process that are in memory.
int64_t resident() {
  int64_t all = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  return pages * 4096;
}

TEST_F(Parquet, ARowGroupIsNeverInMemoryAsAWhole) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "what AddressSanitizer keeps of freed memory would be measured";
#endif
  const auto rows = open_line_source(golden("large"), read_by_it());
  const int64_t before = resident();
  int64_t bytes = 0, most = before;
  for (Line line; rows->next(line); most = std::max(most, resident())) bytes += static_cast<int64_t>(line.text.size());
  EXPECT_EQ(bytes, int64_t{128} << 20);
  EXPECT_LT(most - before, int64_t{24} << 20);
}

TEST_F(Parquet, OfNoRowsHoldsNoDocument) {
  EXPECT_THAT(documents(golden("no_rows")), ElementsAre());
  const auto rows = open_line_source(golden("no_rows"), read_by_it());
  EXPECT_GT(rows->position(), 300);
}

TEST_F(Parquet, WithoutTheColumnNamesThoseThatThereAre) {
  EXPECT_THAT(error_of(golden("groups"), {.text_field = "body"}),
              HasSubstr("groups.parquet has no column \"body\" (data.text_field); its columns: id, text"));
  EXPECT_THAT(error_of(golden("groups"), {.text_field = "body", .skip_bad_lines = true}), HasSubstr("its columns"));
  EXPECT_THAT(error_of(golden("groups"), {.chats = true}),
              HasSubstr("groups.parquet has no column \"messages\" (data.chats); its columns: id, text"));
  EXPECT_THAT(error_of(golden("twice")), HasSubstr("twice.parquet has several columns \"text\""));
}

TEST_F(Parquet, AColumnThatHoldsNoTextIsNamedWithItsType) {
  const std::pair<std::string, std::string> cases[] = {
      {"number", "int64"}, {"bytes", "binary"}, {"list", "list<element: string>"}, {"nothing", "null"}};
  for (const auto& [column, type] : cases) {
    EXPECT_THAT(error_of(golden("types"), {.text_field = column, .skip_bad_lines = true}),
                HasSubstr(fmt::format("types.parquet: the column \"{}\" holds {}; expected text", column, type)));
  }
}

TEST_F(Parquet, ThatIsEncryptedIsRefused) {
  for (const char* name : {"encrypted_column", "encrypted_footer"}) {
    for (const char* column : {"text", "id"}) {
      EXPECT_THAT(error_of(golden(name), {.text_field = column, .skip_bad_lines = true}),
                  HasSubstr(fmt::format("{}.parquet is encrypted", name)));
    }
  }
}

TEST_F(Parquet, WhatIsNoneIsNamed) {
  for (const std::string& content :
       {std::string(), std::string("PAR1"), std::string("{\"text\": \"a line\"}\n"),
        std::string("PAR1\0\0\0\0PAR1", 12), std::string("PAR1\xFF\xFF\xFF\xFFPAR1", 12), std::string(1000, '\0')}) {
    EXPECT_THAT(error_of(written(content), {.skip_bad_lines = true}),
                HasSubstr("a.parquet is no Parquet file, or a damaged one: "));
  }
  EXPECT_THAT(error_of((folder_ / "none.parquet").string()), HasSubstr("none.parquet: No such file or directory"));
}

TEST_F(Parquet, ThatIsCutOffIsRefusedWhereverThatIs) {
  const std::string whole = read_file(golden("groups"));
  for (size_t size = 0; size < whole.size(); size += 997) {
    EXPECT_THAT(error_of(written(whole.substr(0, size)), {.skip_bad_lines = true}), HasSubstr("is no Parquet file"))
        << size;
  }
  EXPECT_THAT(error_of(written(whole)), HasSubstr("no error: 300 rows"));
}

TEST_F(Parquet, AFlippedByteOfAPageWithAChecksumIsFound) {
  const std::string whole = read_file(golden("groups"));
  // Where the pages are between the magic number and the footer, of which the length stands at the end.
  const auto footer =
      static_cast<unsigned char>(whole[whole.size() - 8]) + 256U * static_cast<unsigned char>(whole[whole.size() - 7]);
  const std::vector<std::string> texts = documents(golden("groups"));
  int found = 0;
  for (size_t at = 4; at < whole.size() - 8 - footer; at += 509) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    try {
      // Of the other column, or of statistics that nobody needs.
      EXPECT_EQ(documents(written(damaged), {.skip_bad_lines = true}), texts) << at;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.parquet is no Parquet file, or a damaged one: ")) << at;
      ++found;
    }
  }
  EXPECT_GT(found, 50);
}

TEST_F(Parquet, ThatWasTamperedWithIsReadOrRefused) {
  std::mt19937 random(11);
  int refused = 0, read = 0;
  for (const char* name : {"types", "chats", "groups"}) {
    const std::string whole = read_file(golden(name));
    const LineOptions options{.text_field = "dictionary_holes", .skip_bad_lines = true, .chats = name[0] == 'c'};
    for (int i = 0; i < 700; ++i) {
      std::string damaged = whole;
      // Most of them in the footer.
      const size_t from = random() % 4 == 0 ? 0 : whole.size() - whole.size() / (name[0] == 'g' ? 6 : 2);
      for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
        damaged[from + random() % (damaged.size() - from)] = static_cast<char>(random());
      }
      LineOptions of_file = options;
      if (name[0] == 'g') of_file.text_field = "text";
      error_of(written(damaged), of_file).starts_with("no error") ? ++read : ++refused;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 500);
}

TEST_F(Parquet, HoldsConversations) {
  const LineOptions options{.skip_bad_lines = true, .chats = true};
  const std::string path = golden("chats");
  std::vector<Conversation> found;
  std::vector<std::string> wrong;
  const auto rows = open_line_source(path, read_by_it(options));
  for (Line line; rows->next(line);) {
    if (auto conversation = conversation_in(line, path, options)) {
      found.push_back(*conversation);
      continue;
    }
    try {
      conversation_in(line, path, {.chats = true});
    } catch (const UserError& error) {
      wrong.emplace_back(error.what());
    }
  }
  const Conversation first = {{Role::User, "What floats?"}, {Role::Assistant, "A \"boat\".\n"}};
  const Conversation second = {{Role::System, "Be kind."},
                               {Role::User, "And sinks?"},
                               {Role::Assistant, "A stone — é."},
                               {Role::User, "No?"},
                               {Role::Assistant, "Yes."}};
  const Conversation last = {{Role::User, "Again."}, {Role::Assistant, "Again."}};
  EXPECT_THAT(found, ElementsAre(first, second, last));
  EXPECT_THAT(wrong, ElementsAre(HasSubstr("chats.parquet: row 3 has a messages[0] without a \"role\""),
                                 HasSubstr("chats.parquet: row 4 has \"messages\" that are no list"),
                                 HasSubstr("chats.parquet: row 5 is an empty conversation"),
                                 HasSubstr("chats.parquet: row 6 has a messages[0] that is no object")));
}

class ParquetIndex : public Parquet {
 protected:
  TokenIndex open(const std::vector<std::string>& files, int threads, const LineOptions& lines = {}) const {
    static const Tokenizer tokenizer(
        learn_merges({{"document", 9}}, {.vocab_size = 266, .specials = kSpecials, .progress = {}}));
    return open_index(tokenizer, {.files = files,
                                  .lines = read_by_it(lines),
                                  .folder = (folder_ / fmt::format("cache{}", threads)).string(),
                                  .validation_share = 0.2,
                                  .threads = threads});
  }

  static inline const std::vector<std::string> kSpecials = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
};

TEST_F(ParquetIndex, IsThatOfJsonLinesWithTheSameTextsForAnyNumberOfThreads) {
  std::string lines;
  for (const std::string& text : documents(golden("groups"))) lines += fmt::format("{{\"text\": \"{}\"}}\n", text);
  write_file(folder_ / "a.jsonl", lines);
  const TokenIndex one = open({golden("groups")}, 1), three = open({golden("groups")}, 3);
  EXPECT_EQ(one.fingerprint, open({(folder_ / "a.jsonl").string()}, 2).fingerprint);
  EXPECT_EQ(one.fingerprint, three.fingerprint);
  EXPECT_EQ(one.training.documents(), 240);
  EXPECT_EQ(one.validation.documents(), 60);
  EXPECT_FALSE(open({golden("groups")}, 3).built);
}

TEST_F(ParquetIndex, StandsBesideOtherFilesAndCountsWhatItSkips) {
  write_file(folder_ / "a.jsonl", "{\"holes\": \"of a line\"}\nno line\n");
  const LineOptions options{.text_field = "holes", .skip_bad_lines = true};
  const std::vector<std::string> files = {(folder_ / "a.jsonl").string(), golden("types")};
  const TokenIndex index = open(files, 2, options);
  EXPECT_EQ(index.training.documents() + index.validation.documents(), 4);
  EXPECT_EQ(index.skipped_lines, 3);
  EXPECT_EQ(open(files, 2, options).skipped_lines, 3);
}

TEST_F(ParquetIndex, OfConversationsKeepsWhatIsLearnt) {
  const LineOptions options{.skip_bad_lines = true, .chats = true};
  const TokenIndex index = open({golden("chats")}, 2, options);
  EXPECT_EQ(index.training.documents() + index.validation.documents(), 3);
  EXPECT_EQ(index.skipped_lines, 4);
  EXPECT_TRUE(index.training.has_mask());
}

TEST_F(ParquetIndex, OfNoRowsIsRefused) {
  try {
    open({golden("no_rows")}, 1);
    ADD_FAILURE() << "it was built";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the corpus is empty"));
  }
}

}  // namespace
}  // namespace tethys
