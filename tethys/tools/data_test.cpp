// What `tethys data` says of a run, without a plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tools/testing.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// A tokenizer of bytes and of one end, so that a text has as many tokens as bytes, and one more.
class DataCommand : public testing::Test {
 protected:
  DataCommand() {
    write_file(folder_ / "seed.txt", "\x01");
    const Ended ended = run_tethys(
        {"tokenizer", "train", (folder_ / "seed.txt").string(), "--vocab_size", "257", "--output", tokenizer()});
    require(ended.status == 0, "{}", ended.output);
  }

  std::string tokenizer() const { return (folder_ / "tokenizer.json").string(); }
  std::string write(const std::string& name, std::string_view content) const {
    write_file(folder_ / name, content);
    return (folder_ / name).string();
  }
  static Ended data(const std::vector<std::string>& flags) {
    return run_tethys(std::vector<std::string>{"data", "llama3_debugmodel", "--device.plugin", "/no/such.so",
                                               "--training.seq_len", "8", "--training.local_batch_size", "2"} +
                      flags);
  }

  TemporaryFolder folder_;
};

TEST_F(DataCommand, ShowsATextThatIsTooShortForARow) {
  const Ended ended = data({"--data.text", write("a.txt", "abc"), "--data.tokenizer", tokenizer(), "--show", "1"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, testing::AllOf(testing::HasSubstr("document 0, 4 tokens\nabc<|end_of_text|>\n"),
                                           testing::HasSubstr("too short: 4 tokens in 1 document")));
}

// The component lies beside the program, and not beside a copy of it.
class ParquetWithoutItsReader : public DataCommand {
 protected:
  ParquetWithoutItsReader() {
    std::filesystem::copy_file(TETHYS_PROGRAM, folder_ / "tethys");
    std::filesystem::create_symlink(Path(TETHYS_SOURCE_DIR) / "recipes", folder_ / "recipes");
  }

  // What a shared library made of this source is to the program, as its reader.
  void component(const std::string& source) const {
    write("component.cpp", source);
    const std::string command = fmt::format(
        "c++ -shared -fPIC -o {0}/tethys_parquet.so {0}/component.cpp && {1}/cmake/seal.py {0}/tethys_parquet.so",
        folder_.path().string(), TETHYS_SOURCE_DIR);
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  std::string error() const {
    const std::string command = fmt::format(
        "{0}/tethys data llama3_debugmodel --data.text {1} --data.tokenizer {2} "
        "--data.cache_dir {0}/cache > {0}/output 2>&1",
        folder_.path().string(), file_, tokenizer());
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
    return read_file(folder_ / "output");
  }

  const std::string file_ = write("a.parquet", "PAR1");
};

TEST_F(ParquetWithoutItsReader, SaysWhatBuildsIt) {
  EXPECT_THAT(error(), HasSubstr("cannot read " + file_ + ": the reader of Parquet is not there: run `make parquet`"));
}

// A reader that would end the process if it were called.
TEST_F(ParquetWithoutItsReader, RefusesThatOfAnotherBuild) {
  const std::string reader = "extern \"C\" { long tethys_parquet[2]; }\n";
  const std::string another = "tethys_parquet.so, is of another build: run `make parquet`";
  component(reader);
  EXPECT_THAT(error(), HasSubstr(another));
  component(reader + "extern \"C\" { char tethys_parquet_interface[] = \"0123\"; }\n");
  EXPECT_THAT(error(), HasSubstr(another));
}

TEST_F(ParquetWithoutItsReader, RefusesADamagedOneBeforeItIsLoaded) {
  component("[[gnu::constructor]] static void crash() { __builtin_trap(); }\n");
  std::string library = read_file(folder_ / "tethys_parquet.so");
  library[library.size() / 2] ^= 1;
  for (const std::string& damaged : {library, library.substr(0, 3000), std::string()}) {
    write("tethys_parquet.so", damaged);
    EXPECT_THAT(error(),
                AllOf(HasSubstr("tethys_parquet.so, is damaged: run `make parquet`"), Not(HasSubstr("there"))));
  }
}

TEST_F(DataCommand, CountsTheDocumentsOfJsonLines) {
  const std::string file = write("a.jsonl",
                                 "{\"body\": \"0123456789\"}\n"
                                 "{\"other\": 1}\n"
                                 "{\"body\": \"one\\ntwo and three\"}\n");
  const std::vector<std::string> flags = {"--data.text",      file, "--data.text_field", "body",
                                          "--data.holdout",   "0",  "--data.tokenizer",  tokenizer(),
                                          "--training.steps", "6"};
  EXPECT_THAT(
      data(flags).output,
      HasSubstr("a.jsonl: line 2 has no \"body\"; expected an object with a text \"body\" (data.text_field), or "
                "--data.skip_bad_lines"));
  const Ended ended = data(flags + std::vector<std::string>{"--data.skip_bad_lines", "--show", "2"});
  EXPECT_EQ(ended.status, 0);
  // 10 + 1 and 17 + 1 tokens; (29 - 1) / 8 rows of 8; two steps of two rows; 6 · 2 rows of 3.
  EXPECT_THAT(ended.output,
              AllOf(ContainsRegex("files +1\n"), ContainsRegex("training +29  tokens in 2 documents\n"),
                    ContainsRegex("held out +0  tokens in 0 documents\n"), ContainsRegex("skipped +1  bad lines\n"),
                    ContainsRegex("an epoch +24  tokens in 3 rows of 8: 2 steps of 2 rows\n"),
                    ContainsRegex("the run +4.00  epochs in 6 steps\n"), HasSubstr("document 0, 11 tokens\n0123456789"),
                    HasSubstr("document 1, 18 tokens\none\ntwo and three")));
}

TEST_F(DataCommand, TellsOfEachSourceOfAMixAndRefusesOneThatDoesNotFit) {
  const std::string text = "few:" + write("few.txt", std::string(16, 'x')) +
                           ",many:" + write("many.txt", std::string(160, 'y')) +
                           ",many:" + write("more.txt", std::string(159, 'z'));
  const std::vector<std::string> flags = {"--data.text",      text, "--data.tokenizer", tokenizer(),
                                          "--training.steps", "10", "--data.holdout",   "0",
                                          "--show",           "1"};
  const Ended ended = data(flags + std::vector<std::string>{"--data.mix", "few=1,many=3"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  // Of 10 · 2 rows 5 are of the 2 that the few have, and 15 of the 40 of the many.
  EXPECT_THAT(
      ended.output,
      AllOf(ContainsRegex("files +3\n"), ContainsRegex("training +338  tokens in 3 documents\n"),
            ContainsRegex("few +25.00%  of the rows, from 17 tokens in 1 document: 2.50 epochs in 10 steps\n"),
            ContainsRegex("many +75.00%  of the rows, from 321 tokens in 2 documents: 0.38 epochs in 10 steps\n"),
            HasSubstr("few: document 0, 17 tokens\nxxx"), HasSubstr("many: document 0, 161 tokens\nyyy")));
  EXPECT_THAT(data(flags + std::vector<std::string>{"--data.mix", "few=1,many=-3"}).output,
              HasSubstr("the weight of many is \"-3\"; expected a number above 0"));
  EXPECT_THAT(data(flags + std::vector<std::string>{"--data.mix", "few=1,many=3", "--training.seq_len", "17"}).output,
              HasSubstr("the training text of few is too short: 17 tokens"));
  const Ended both = data({"--data.tokens", write("t.bin", "12"), "--data.mix", "few=1"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.output, HasSubstr("mixes the sources of data.text"));
}

// What a chat's tokens are, and which are learnt, is shown as it is trained on.
TEST_F(DataCommand, ShowsOfChatsWhatIsLearnt) {
  const std::string chats = (folder_ / "chats" / "tokenizer.json").string();
  std::filesystem::create_directory(folder_ / "chats");
  std::filesystem::copy_file(tokenizer(), chats);
  write_file(folder_ / "chats" / "tokenizer_config.json",
             R"({"added_tokens_decoder": {"257": {"content": "<|im_start|>", "special": true},
                 "258": {"content": "<|im_end|>", "special": true}}})");
  const std::string file =
      write("a.jsonl", R"({"messages": [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "bc"}]})"
                       "\n"
                       R"({"messages": [{"role": "user", "content": "a?"}, {"role": "tool", "content": "bc"}]})"
                       "\n");
  const std::vector<std::string> flags = {"--data.text", file, "--data.chats", "--data.holdout", "0", "--show", "1"};
  const std::vector<std::string> its = {"--data.tokenizer", chats};
  EXPECT_THAT(data(flags + its).output, HasSubstr("a.jsonl: line 2 has a messages[1] of the role \"tool\""));
  const Ended ended = data(flags + its + std::vector<std::string>{"--data.skip_bad_lines"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  // 1 + 4 + 1 + 2 + 1 + 1 for the question, 1 + 9 + 1 + 2 + 1 + 1 for the answer, of which 2 + 1 are learnt.
  EXPECT_THAT(
      ended.output,
      AllOf(
          ContainsRegex("training +25  tokens in 1 document\n"), ContainsRegex("learnt +3  tokens, the answers\n"),
          ContainsRegex("skipped +1  bad lines\n"),
          HasSubstr("document 0, 25 tokens\n<|im_start|>user\na?<|im_end|>\n<|im_start|>assistant\n⟦bc<|im_end|>⟧\n")));
  EXPECT_THAT(data(flags + std::vector<std::string>{"--data.tokenizer", tokenizer()}).output,
              HasSubstr("the tokenizer has no special tokens for chats"));
  EXPECT_THAT(data({"--data.text", write("a.txt", "x"), "--data.chats", "--data.tokenizer", chats}).output,
              HasSubstr("a.txt holds no chats: data.chats takes files of JSON lines"));
}

TEST_F(DataCommand, ReadsTokensOfTheTypeThatIsNamed) {
  const std::string raw("\1\0\2\0\3\0\4\0\5\0\6\0\7\0\10\0\11\0\0\0", 20);
  const std::string file = write("tokens.bin", raw);
  const Ended narrow = data({"--data.tokens", file, "--show", "1"});
  EXPECT_THAT(narrow.output, AllOf(ContainsRegex("training +10  tokens in 1 document\n"),
                                   HasSubstr("document 0, 10 tokens\n1 2 3 4 5 6 7 8 9 0\n")));
  const Ended wide = data({"--data.tokens", file, "--data.token_type", "uint32"});
  EXPECT_EQ(wide.status, 2);
  EXPECT_THAT(wide.output, HasSubstr("token 0 is the id 131073; the vocabulary has 2048 ids"));
}

TEST_F(DataCommand, OfALongDocumentShowsTheBeginning) {
  const std::string file = write("long.txt", std::string(255, 'x') + "yz");
  const Ended ended = data({"--data.text", file, "--data.tokenizer", tokenizer(), "--show", "9"});
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("document 0, 258 tokens, its beginning\n"), HasSubstr("xxy\n"), Not(HasSubstr("xyz"))));
}

// Random characters of all planes, as Python's json writes them with and without escapes, and as they are.
TEST_F(DataCommand, FindsTheSameInLinesThatPythonWroteAsInFiles) {
  write("make.py", R"(
import gzip, json, os, random, sys
random.seed(5)
os.makedirs('files')
def character():
    c = chr(random.choice([random.randrange(32, 127), random.randrange(1, 0x300), random.randrange(0x110000)]))
    return 'x' if '\ud800' <= c <= '\udfff' or c == '\0' else c
documents = [''.join(character() for _ in range(random.randrange(1, 60))) for _ in range(100)]
with open('a.jsonl', 'w') as plain, gzip.open('b.jsonl.gz', 'wt', encoding='utf-8') as packed:
    for i, text in enumerate(documents):
        open(f'files/{i:03}.txt', 'wb').write(text.encode())
        line = {'id': i, 'meta': {'text': 'no'}, 'text': text, 'score': 0.5, 'tags': ['text', None]}
        plain.write(json.dumps(line) + '\n')
        packed.write(json.dumps(line, ensure_ascii=False) + '\r\n')
)");
  const std::string python = "cd '" + folder_.path().string() + "' && python3 make.py";
  ASSERT_EQ(std::system(python.c_str()), 0);
  const auto report = [&](const std::string& files) {
    const Ended ended = data({"--data.text", (folder_ / files).string(), "--data.tokenizer", tokenizer(),
                              "--data.holdout", "0.1", "--show", "100"});
    EXPECT_EQ(ended.status, 0) << ended.output;
    return ended.output.substr(std::min(ended.output.find("training "), ended.output.size()));
  };
  const std::string files = report("files/*.txt");
  EXPECT_THAT(files, AllOf(HasSubstr("tokens in 90 documents"), HasSubstr("tokens in 10 documents"),
                           HasSubstr("document 89, ")));
  EXPECT_EQ(report("a.jsonl"), files);
  EXPECT_EQ(report("b.jsonl.gz"), files);
}

}  // namespace
}  // namespace tethys
