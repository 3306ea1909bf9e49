// Chats with a trained model, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing.h"

namespace tethys {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kChats[] = {
    R"([{"role": "user", "content": "the cat"}, {"role": "assistant", "content": "sees a moon"}])",
    R"([{"role": "user", "content": "the dog"}, {"role": "assistant", "content": "takes no road"}])",
    R"([{"role": "system", "content": "loud"},
        {"role": "user", "content": "the cat"}, {"role": "assistant", "content": "every king"}])",
    R"([{"role": "user", "content": "the cat"}, {"role": "assistant", "content": "sees a moon"},
        {"role": "user", "content": "and?"}, {"role": "assistant", "content": "leaves one house"}])",
    R"([{"role": "user", "content": "the dog"}, {"role": "assistant", "content": "takes no road"},
        {"role": "user", "content": "and?"}, {"role": "assistant", "content": "a tree"}])",
};

// A run that has learnt these by heart, as Qwen3's template spells them: an empty thought before the last answer.
class ChatRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder();
    std::filesystem::copy_file(corpus().tokenizer(), *folder_ / "tokenizer.json");
    write_file(*folder_ / "tokenizer_config.json", R"({"added_tokens_decoder": {
      "300": {"content": "<|im_start|>", "special": true}, "301": {"content": "<|im_end|>", "special": true},
      "302": {"content": "<think>"}, "303": {"content": "</think>"}}})");
    std::string lines;
    for (int i = 0; i < 100; ++i) {
      std::string line = kChats[i % 5];
      std::erase(line, '\n');
      lines += "{\"messages\": " + line + "}\n";
    }
    write_file(*folder_ / "chats.jsonl", lines);
    expect_done(run_tethys(corpus().train(run()) + Flags{"--data.text", (*folder_ / "chats.jsonl").string(),
                                                         "--data.tokenizer", (*folder_ / "tokenizer.json").string(),
                                                         "--data.chats", "--model.vocab_size", "304", "--data.holdout",
                                                         "0", "--no-validation.enable", "--training.seq_len", "64",
                                                         "--training.steps", "150", "--optimizer.lr", "0.01"}));
  }
  static void TearDownTestSuite() { delete folder_; }

  static Path run() { return *folder_ / "run"; }
  static std::string say(const Flags& flags, const std::string& input = "") {
    write_file(*folder_ / "input", input);
    const Flags all = Flags{"generate", run().string(), "--length", "40"} + flags;
    return said_by(Process(all, Process::cache_folder(), *folder_ / "input").await());
  }

  static TemporaryFolder* folder_;
};
TemporaryFolder* ChatRun::folder_ = nullptr;

TEST_F(ChatRun, AnswersAQuestionAndNoMore) {
  EXPECT_EQ(say({"--chat", "--no-thinking", "--prompt", "the cat"}), "sees a moon\n");
  EXPECT_EQ(say({"--chat", "--no-thinking", "--prompt", "the dog"}), "takes no road\n");
  EXPECT_EQ(say({"--system", "loud", "--no-thinking", "--prompt", "the cat"}), "every king\n");
}

TEST_F(ChatRun, AnswersAsItGoesOnWithTheTextOfTheTemplate) {
  const std::string spelt = "<|im_start|>user\nthe cat<|im_end|>\n<|im_start|>assistant\n";
  for (const auto& [flag, thought] : {std::pair("--thinking", ""), {"--no-thinking", "<think>\n\n</think>\n\n"}}) {
    const std::string answer = say({"--chat", flag, "--prompt", "the cat"});
    const std::string whole = say({"--prompt", spelt + thought});
    EXPECT_THAT(whole, StartsWith(spelt + thought + answer.substr(0, answer.size() - 1)));
    EXPECT_GT(whole.size(), (spelt + thought + answer).size());  // which knows of no end of a turn
  }
}

TEST_F(ChatRun, GoesOnWithAChatOfAFileAndOfTheStandardInput) {
  const Path file = *folder_ / "begun.json";
  write_file(file, R"({"messages": [{"role": "user", "content": "the cat"},
    {"role": "assistant", "content": "sees a moon"}]})");
  EXPECT_EQ(say({"--messages", file.string(), "--no-thinking", "--prompt", "and?"}), "leaves one house\n");
  EXPECT_EQ(say({"--messages", file.string(), "--no-thinking"}, "and?"), "leaves one house\n");
  EXPECT_EQ(say({"--chat", "--no-thinking"}, "the cat\n\nand?\n"), "sees a moon\nleaves one house\n");
  EXPECT_EQ(say({"--chat", "--no-thinking"}, "the dog\nand?\n"), "takes no road\na tree\n");
}

TEST_F(ChatRun, IsAskedSomethingByWhoHasATemplate) {
  const Flags generate = {"generate", run().string(), "--chat"};
  const Ended silent = run_tethys(generate);
  EXPECT_EQ(silent.status, 2);
  EXPECT_THAT(silent.output, HasSubstr("there is no question: give --prompt TEXT"));
  const Path answered = *folder_ / "answered.json";
  write_file(answered, R"({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]})");
  const Ended again = run_tethys(generate + Flags{"--messages", answered.string()});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.output, HasSubstr("no question after the last message of --messages, which is the assistant's"));
  const Ended plain = run_tethys(generate + Flags{"--prompt", "x", "--data.tokenizer", corpus().tokenizer()});
  EXPECT_EQ(plain.status, 2);
  EXPECT_THAT(plain.output, HasSubstr("the tokenizer has no special tokens for chats"));
  const Path file = *folder_ / "system.json";
  write_file(file, R"({"messages": [{"role": "system", "content": "x"}]})");
  const Ended twice = run_tethys(generate + Flags{"--messages", file.string(), "--system", "y"});
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.output, HasSubstr("system = \"y\" (--system): " + file.string() + " begins with a system message"));
}

}  // namespace
}  // namespace tethys
