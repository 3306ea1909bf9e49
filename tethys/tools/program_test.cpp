// The program from outside: what it prints and how it exits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "config/describe.h"
#include "config/option_table.h"
#include "tools/testing.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Program, WithoutArgumentsItListsItsCommandsWithAnExample) {
  const Ended ended = run_tethys({});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, AllOf(HasSubstr("tethys train llama3_debugmodel"), HasSubstr("tokenizer encode")));
}

TEST(Program, HelpOfACommandShowsAnExampleAndItsOwnOptionsAndNamesTheOthers) {
  for (const std::string flag : {"--help", "-h"}) {
    const Ended ended = run_tethys({"config", "--training.steps", "5", flag});
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(
        ended.output,
        AllOf(HasSubstr("tethys config llama3_8b --optimizer.lr 1e-4"), HasSubstr("--no-NAME"),
              HasSubstr("--toml\n      print a recipe that loads to these values (true or false; default false)"),
              HasSubstr("--help all"), testing::ContainsRegex("training +steps"),
              Not(HasSubstr("number of optimizer steps"))));
  }
}

TEST(Program, HelpDescribesASectionOfTheConfigurationOrAllOfIt) {
  const std::string steps =
      "--training.steps INT\n      number of optimizer steps (an int, at least 1 and at most 1000000000; "
      "default 10000)\n";
  for (const std::string part : {"training", "all"}) {
    const Ended ended = run_tethys({"train", "--help", part});
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.output, AllOf(HasSubstr("--dry-run"), HasSubstr(steps)));
    EXPECT_EQ(ended.output.find("--optimizer.lr NUMBER") != std::string::npos, part == "all");
  }
  EXPECT_THAT(run_tethys({"tokenizer", "encode", "--help"}).output,
              HasSubstr("--data.text_field TEXT\n      member of"));
}

TEST(Program, SaysItsVersionAndCommitAndThePluginItTakes) {
  const Ended ended = run_tethys({"--version"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, testing::MatchesRegex(
                                "tethys [0-9]+[.][0-9]+[.][0-9]+, commit (unknown|[0-9a-f]+(-dirty)?)\nplugin .+\n"));
}

TEST(Program, AFamilyOfCommandsIsListedByItsFirstWord) {
  const Ended ended = run_tethys({"tokenizer", "--help"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output,
              AllOf(testing::StartsWith("usage: tethys tokenizer COMMAND …\n"), HasSubstr("tokenizer decode"),
                    Not(HasSubstr("  config ")), Not(HasSubstr("train llama3"))));
}

TEST(Program, AnUnknownCommandNamesTheNearest) {
  const Ended ended = run_tethys({"confg"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("there is no command 'confg'; the nearest is `tethys config`"));
  EXPECT_THAT(run_tethys({"tokenizer", "encod"}).output, HasSubstr("the nearest is `tethys tokenizer encode`"));
}

TEST(Program, AResultThatCannotBePrintedIsAFailure) {
  TemporaryFolder folder;
  const std::string errors = (folder / "errors").string();
  for (const std::string arguments :
       {"", "--help", "--version", "tokenizer", "config --help", "config llama3_8b", "inspect llama3_8b"}) {
    const int status =
        std::system((std::string(TETHYS_PROGRAM) + " " + arguments + " > /dev/full 2> " + errors).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << arguments;
    EXPECT_EQ(read_file(errors), "tethys: cannot write all of the standard output: its disk is full, or it is closed\n")
        << arguments;
  }
}

TEST(Program, WhatCannotBeToldToStandardErrorLeavesTheExitStatus) {
  TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  for (const std::string redirection : {"2> /dev/full", "2>&-", "2>&1 > /dev/full | true"}) {
    const std::string call = "set -o pipefail; " TETHYS_PROGRAM " config llama3_8c 0<&- > " + out + " " + redirection;
    const int status = std::system(("bash -c '" + call + "'").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << redirection;
  }
}

TEST(Program, NoFileGetsTheNumberOfAClosedStandardError) {
  TemporaryFolder folder;
  const std::string text = (folder / "a.txt").string(), tokenizer = (folder / "tokenizer.json").string();
  write_file(text, "some text, some more text, and some text again");
  write_file(folder / "lines.jsonl", "{\"text\":\"some text\"}\nbad\n");
  expect_done(run_tethys({"tokenizer", "train", text, "--vocab_size", "260", "--output", tokenizer}));
  const std::string call = TETHYS_PROGRAM " tokenizer encode --data.skip_bad_lines --documents " +
                           (folder / "lines.jsonl").string() + " --tokenizer " + tokenizer;
  EXPECT_EQ(WEXITSTATUS(std::system((call + " 2>&- > " + (folder / "ids").string()).c_str())), 0);
  EXPECT_EQ(read_file(folder / "lines.jsonl"), "{\"text\":\"some text\"}\nbad\n");
  EXPECT_EQ(WEXITSTATUS(std::system((call + " >&- 2> " + (folder / "errors").string()).c_str())), 1);
}

TEST(ConfigCommand, ShowsEachValueWithItsOrigin) {
  const Ended ended = run_tethys({"config", "llama3_8b", "--training.steps=7"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, testing::ContainsRegex("steps +7 +--training.steps"));
  EXPECT_THAT(ended.output, testing::ContainsRegex("n_layers +32 +[^ ]*recipes/llama3_8b.toml:6"));
  EXPECT_THAT(ended.output, testing::ContainsRegex("beta1 +0.9 +default"));
}

TEST(ConfigCommand, ShowsWhichOverrideChangedWhat) {
  EXPECT_THAT(run_tethys({"config", "llama3_8b"}).output, testing::Not(testing::HasSubstr("overrides")));
  const Ended ended = run_tethys(
      {"config", "llama3_8b", "--kernels.attention", "chunked", "--kernels.loss=chunked", "--kernels.loss_chunk=96"});
  EXPECT_THAT(ended.output,
              testing::EndsWith("\noverrides of the model's tree\n"
                                "kernels.attention = \"chunked\" (--kernels.attention)\n"
                                "  layers.0.attention.kernel … layers.31.attention.kernel: ReferenceAttention() → "
                                "ChunkedAttention(block=512)\n"
                                "kernels.loss = \"chunked\" (--kernels.loss)\n"
                                "  output.kernel: ReferenceLoss() → ChunkedLoss(chunk=96)\n"));
}

TEST(ConfigCommand, ItsMarkdownIsThePageOfOptions) {
  EXPECT_EQ(run_tethys({"config", "--markdown"}).output, options_markdown(option_table()));
}

TEST(ConfigCommand, ItsTomlIsARecipe) {
  TemporaryFolder folder;
  const std::string file = (folder / "all.toml").string();
  write_file(file, run_tethys({"config", "llama3_1b", "--toml"}).output);
  EXPECT_EQ(run_tethys({"config", file, "--toml"}).output, read_file(file));
}

TEST(BadInput, IsAnErrorOfTheUsersWithStatusTwo) {
  TemporaryFolder folder;
  const auto recipe = [&](const std::string& name, const std::string& text) {
    write_file(folder / name, text);
    return (folder / name).string();
  };
  const std::string large = recipe("large.toml", ""), pipe = (folder / "pipe").string();
  std::filesystem::resize_file(large, uint64_t{40} << 30);  // without taking that from the disk
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"config", "llama3_8b", "--trainig.steps", "5"},
       "unknown flag --trainig.steps; the nearest is --training.steps"},
      {{"config", recipe("key.toml", "[training]\nstepz = 1\n")},
       "key.toml:2:1: unknown key training.stepz; the nearest is training.steps"},
      {{"config", recipe("type.toml", "[training]\nsteps = \"ten\"\n")}, "type.toml:2"},
      {{"config", "llama3_8b", "--training.steps", "ten"}, "--training.steps"},
      {{"config", "llama3_8b", "--training.steps", "0"}, "an int, at least 1"},
      {{"config", recipe("parse.toml", "[training]\nsteps = = 1\n")}, "parse.toml:2:9"},
      {{"config", "no/such.toml"}, "there is no recipe file no/such.toml"},
      {{"config", "llama3_8c"}, "no recipe is named llama3_8c; the nearest is llama3_8b"},
      {{"config", "llama3_8b", "--training.seq_len", "131073"}, "131073"},
      {{"config", "llama3_8b", "extra"}, "'extra' is one argument too many"},
      {{"tokenizer", "encode", "text", "--tokenizer", "no/such.json"}, "no/such.json"},
      {{"tokenizer", "decode", "x", "--tokenizer", "no/such.json"}, "no/such.json"},
      {{"tokenizer", "train"}, "usage: tethys tokenizer train"},
      {{"tokenizer", "train", "no/such/*.txt"}, "no/such/*.txt"},
      {{"config", large}, "large.toml: it is larger than the 16,777,216 bytes"},
      {{"tokenizer", "encode", "text", "--tokenizer", large}, "large.toml: it is larger than the 268,435,456 bytes"},
      {{"tokenizer", "encode", "text", "--tokenizer", pipe}, "pipe: it is no regular file"},
      {{"tokenizer", "encode", "--documents", pipe, "--tokenizer", corpus().tokenizer()},
       "nothing writes to this pipe"},
      {{"generate", "no/such", "--prompt_file", pipe}, "pipe: nothing writes to this pipe"},
      {{"generate", "no/such", "--prompt_file", "/dev/zero"}, "/dev/zero: it is larger than the 67,108,864 bytes"},
      // Before the work whose result would go there.
      {{"eval", "no/such", "--json", folder.path().string()},
       "cannot write " + folder.path().string() + ": Is a directory"},
      {{"eval", "no/such", "--json", "no/eval.json"}, "cannot write no/eval.json: No such file or directory"},
      {{"report", "no/such", "--output", "no/page.html"}, "cannot write no/page.html: No such file or directory"},
      {{"tokenizer", "train", corpus().text(), "--output", folder.path().string()}, "Is a directory"},
  };
  for (const Case& c : cases) {
    const Ended ended = run_tethys(c.arguments);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, AllOf(testing::StartsWith("tethys: "), HasSubstr(c.message)));
  }
}

TEST(BadInput, AnEmptyArgumentIsNamedAsSuch) {
  for (const std::string command : {"train", "generate", "eval", "config", "inspect", "data", "convert",
                                    "checkpoint list", "checkpoint verify", "report"}) {
    Flags arguments = {command.substr(0, command.find(' '))};
    if (arguments[0] != command) arguments.push_back(command.substr(command.find(' ') + 1));
    const Ended ended = run_tethys(arguments + Flags{""});
    EXPECT_EQ(ended.status, 2) << command;
    EXPECT_THAT(ended.output, HasSubstr("is an empty argument")) << command;
  }
}

// What stands in the place of a run or of a recipe is said, and what to give.
TEST(BadInput, WhatIsNoRunOrRecipeIsSaidToBeWhatItIs) {
  TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder / name).string(); };
  make_directories(folder / "bare");
  make_directories(folder / "odd/config.toml");
  std::filesystem::create_symlink(folder / "loop", folder / "loop");
  write_file(folder / "tok.json", "{}");
  make_directories(folder / "run");
  make_directories(folder / "whole");
  write_file(folder / "run/config.toml", "");
  write_file(folder / "whole/config.toml", "[training]\nsteps = 3\n");
  const std::pair<Flags, std::string> cases[] = {
      {{"train", path("bare"), "--resume"}, "bare is a folder without a config.toml, and no recipe"},
      {{"train", path("odd"), "--resume"}, "odd is a folder whose config.toml is no file"},
      {{"train", path("loop"), "--resume"}, "cannot look at " + path("loop") + ": Too many levels of symbolic links"},
      {{"train", path("tok.json"), "--resume"}, "tok.json:1:1: "},
      {{"train", path("run"), "--resume"}, "run/config.toml is empty, and was to hold the configuration of the run"},
      {{"generate", path("run"), "--prompt", "x"}, "run/config.toml is empty"},
      {{"eval", path("run")}, "run/config.toml is empty"},
      {{"config", path("whole")}, "whole is a folder; the recipe in it is " + path("whole/config.toml")},
      {{"generate", path("whole/config.toml"), "--prompt", "x"},
       "config.toml is a file; give its folder, " + path("whole")},
      {{"config", "llama3_8b", "--data.chats", "--data.tokens", "x.bin"}, "chats are of data.text"},
      {{"tokenizer", "train", ""}, "no file matches ''"},
      {{"tokenizer", "train", "code:*.py"}, "NAME:GLOB is a source of data.mix"},
      {{"generate", path("whole"), "--chat", "--prompt", ""}, "the question is empty"},
  };
  for (const auto& [arguments, message] : cases) {
    const Ended ended = run_tethys(arguments);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, HasSubstr(message));
  }
}

TEST(BadInput, IsShownOnOneLineThatCanBeRead) {
  TemporaryFolder folder;
  const auto file = [&](const std::string& name, const std::string& text) {
    write_file(folder / name, text);
    return (folder / name).string();
  };
  const std::string nines(100'000, '9'), steering = "a\nb\x1b[31m";
  write_file(folder / "metrics.jsonl", std::string("\x01\x1b[31m\xff") + std::string(3'000'000, '9') + "\n");
  const std::vector<std::vector<std::string>> cases = {
      {"config", "llama3_8b", "--training.steps", nines},
      {"config", "llama3_8b", "--optimizer.lr", "1e" + nines},
      {"config", "llama3_8b", "--" + nines, "1"},
      {"config", "llama3_8b", nines},
      {"config", steering},
      {"config", "llama3_8b", "--training." + steering},
      {"config", "llama3_8b", "--no-" + steering},
      {"config", "no/such\n" + nines},
      {"config", file("number.toml", "[training]\nsteps = " + nines)},
      {"config", file("key.toml", "[training]\n\"" + nines + "\\n\" = 1\n")},
      {"config", file("text.toml", "[training]\nsteps = \"\"\"" + nines + "\n\"\"\"\n")},
      {nines},
      {steering},
      {"report", folder.path().string(), "--output", (folder / "page.html").string()},
      {"tokenizer", "encode", "x", "--tokenizer", "no/such\n" + steering},
      {"tokenizer", "train", "no/such" + steering},
  };
  for (const std::vector<std::string>& arguments : cases) {
    const Ended ended = run_tethys(arguments);
    EXPECT_EQ(ended.status, 2) << shown(ended.output);
    EXPECT_LT(ended.output.size(), 4000U) << shown(ended.output);
    EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1) << shown(ended.output);
    const std::string line = ended.output.substr(0, std::min<size_t>(500, ended.output.find('\n')));
    EXPECT_EQ(shown(line), line);
  }
}

TEST(BadInput, AFileThatMayNotBeReadIsNamedWithTheReason) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder.json");
  const Ended ended = run_tethys({"tokenizer", "encode", "text", "--tokenizer", (folder / "folder.json").string()});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, AllOf(HasSubstr("folder.json"), HasSubstr("directory")));
}

// Found before a plugin is loaded.
// One alone may be left open, for the devices that the others leave.
TEST(BadInput, ADegreeIsANumberOfDevices) {
  for (const std::string degree : {"data_parallel_replicate_degree", "data_parallel_shard_degree",
                                   "context_parallel_degree", "tensor_parallel_degree", "expert_parallel_degree"}) {
    const std::string option = "parallelism." + degree;
    for (const std::string value : {"0", "-1", "-2", "1e9", "two"}) {
      if (value == "-1" && degree == "data_parallel_shard_degree") continue;
      const Ended ended =
          run_tethys({"config", "llama3_8b", "--parallelism.data_parallel_shard_degree", "-1", "--" + option, value});
      EXPECT_EQ(ended.status, 2) << option << " " << value;
      EXPECT_THAT(ended.output, AllOf(HasSubstr(option), HasSubstr(value), HasSubstr("at least 1"))) << ended.output;
    }
  }
}

TEST(BadInput, OfTrainIsAnErrorOfTheUsersWithStatusTwo) {
  TemporaryFolder folder;
  const SmallCorpus corpus;
  const std::vector<std::string> train = corpus.train(folder / "run");
  write_file(folder / "empty.txt", "");
  write_file(folder / "short.txt", "a cat sees the moon.");
  std::filesystem::create_directory(folder / "taken");
  write_file(folder / "taken/metrics.jsonl", "{\"step\": 1}\n");
  make_directories(folder / "blocked/loss.png");
  const auto path = [&](const char* name) { return (folder / name).string(); };
  struct Case {
    std::vector<std::string> flags;
    std::vector<std::string> message;
  };
  const std::vector<Case> cases = {
      {{"--data.text", path("no/*.txt")}, {"no/*.txt"}},
      {{"--data.text", path("empty.txt")}, {"empty.txt"}},
      {{"--data.text", path("short.txt")}, {"too short: 10 tokens in 1 document,", "training.seq_len 32 needs 33"}},
      {{"--data.text="}, {"nothing to train on", "--data.text", "--data.tokens"}},
      {{"--data.tokenizer="}, {"needs a tokenizer"}},
      {{"--data.tokenizer", path("no.json")}, {"no.json"}},
      {{"--data.tokens", path("no.bin")}, {"no.bin"}},
      {{"--data.text=", "--data.tokens", path("short.txt"), "--validation.enable"}, {"no held-out documents"}},
      {{"--model.vocab_size", "299"}, {"the tokenizer has 300 tokens and the model 299"}},
      {{"--training.seq_len", "64", "--model.context_length", "32"}, {"seq_len = 64", "context_length = 32"}},
      {{"--model.n_heads", "5"}, {"n_heads = 5", "dim = 32"}},
      {{"--parallelism.tensor_parallel_degree", "3"}, {"tp", "n_kv_heads = 2", "1, 2, 4"}},
      {{"--parallelism.context_parallel_degree", "3"}, {"cp", "seq_len", "6 pieces", "would work"}},
      {{"--parallelism.expert_parallel_degree", "2"}, {"ep", "expert_parallel_degree = 2", "n_experts = 0"}},
      {{"--parallelism.data_parallel_shard_degree", "3", "--device.count", "4"}, {"3 devices", "there are 4"}},
      {{"--training.global_batch_size", "6"}, {"global_batch_size = 6", "local_batch_size = 4", "8 would be"}},
      {{"--output", path("taken")}, {"taken holds a run already", "--resume", "--output"}},
      {{"--output", path("blocked")}, {"blocked/loss.png is no file", "move it away", "--output"}},
      {{"--device", "tpu"}, {"this machine has no TPU", "tethys compile"}},
      {{"--device", "cuda"}, {"jax-cuda12-pjrt"}},
      {{"--device.plugin", path("no.so")}, {"no.so"}},
      {{"--device.compile_options", "fast"}, {"is not of the form NAME=VALUE"}},
      {{"--optimizer.eps", "1e-300"}, {"--optimizer.eps", "above 0 and in the range of float32"}},
      {{"--optimizer.lr", "1e300"}, {"--optimizer.lr", "in the range of float32"}},
      {{"--optimizer.weight_decay", "1e308"}, {"--optimizer.weight_decay", "in the range of float32"}},
      {{"--model.norm_eps", "1e-300"}, {"--model.norm_eps", "above 0 and in the range of float32"}},
      {{"--optimizer.lr", "inf"}, {"--optimizer.lr", "in the range of float32"}},
      {{"--output", path("taken/metrics.jsonl/x")}, {"metrics.jsonl: something that is no folder has its name"}},
      {{"--data.cache_dir", path("taken/metrics.jsonl")},
       {"no folder has its name; --data.cache_dir or XDG_CACHE_HOME"}},
      {{"--data.cache_dir", "/proc/1"}, {"--data.cache_dir or XDG_CACHE_HOME chooses another folder"}},
      {{"--data.text", path("taken")}, {"is a folder", "taken/**/*.txt names the text files in it"}},
      {{"--data.text", "/dev/zero"}, {"/dev/zero is a device, pipe or socket"}},
      {{"--checkpoint.intervall", "5"}, {"the nearest is --checkpoint.interval"}},
  };
  for (const Case& c : cases) {
    const Ended ended = run_tethys(train + c.flags);
    EXPECT_EQ(ended.status, 2) << ended.output;
    for (const std::string& part : c.message) EXPECT_THAT(ended.output, HasSubstr(part));
    EXPECT_FALSE(is_there(folder / "run")) << ended.output;
  }
}

// The signal comes in the middle of several chunks of text; a half index would be `.tokens-….partial-…`.
TEST(Stop, WhileTextIsIndexedEndsTheProcessAndLeavesNoHalfIndex) {
  TemporaryFolder folder;
  const SmallCorpus corpus;
  make_directories(folder / "text");
  uint32_t random = 1;
  for (int document = 0; document < 24; ++document) {
    std::string text(1 << 20, ' ');
    for (char& c : text) {
      random = random * 1664525U + 1013904223U;
      if (random >> 29 != 0) c = static_cast<char>('a' + (random >> 16) % 26);
    }
    write_file(folder / ("text/" + std::to_string(document) + ".txt"), text);
  }
  const Path cache = folder / "cache";
  Process process(corpus.train(folder / "run") + std::vector<std::string>{"--data.text",
                                                                          (folder / "text/*.txt").string(),
                                                                          "--data.cache_dir", cache.string()});
  const auto files_in_cache = [&] {
    std::error_code ignored;
    return std::distance(std::filesystem::directory_iterator(cache, ignored), std::filesystem::directory_iterator());
  };
  while (process.running() && process.output().find("tokenising") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process.kill(SIGTERM);
  const Ended ended = process.await();
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  EXPECT_THAT(ended.output, AllOf(HasSubstr("reading: done in "), HasSubstr("tokenising …\n"),
                                  HasSubstr("stopped by signal 15 before the first step")));
  EXPECT_EQ(files_in_cache(), 0);
}

TEST(BadInput, OfGenerateIsAnErrorOfTheUsersWithStatusTwo) {
  TemporaryFolder folder;
  const Ended no_run = run_tethys({"generate", folder.path().string(), "--prompt", "x"});
  EXPECT_EQ(no_run.status, 2);
  EXPECT_THAT(no_run.output,
              HasSubstr("is neither a run or a checkpoint of one (there is no config.toml) nor a Hugging Face folder"));
  write_file(folder / "config.toml", "[model]\ncontext_length = 100\n");
  const Ended unsaved = run_tethys({"generate", folder.path().string(), "--prompt", "x"});
  EXPECT_EQ(unsaved.status, 2);
  EXPECT_THAT(unsaved.output, HasSubstr("holds no complete checkpoint"));
  write_file(folder / "empty.txt", "");
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--top_p", "0"}, "--top_p: top_p is 0.0, expected a number, above 0 and at most 1"},
      {{"--top_p", "1.1"}, "--top_p: top_p is 1.1, expected a number, above 0 and at most 1"},
      {{"--top_k", "-1"}, "--top_k: top_k is -1, expected an int, at least 0"},
      {{"--temperature=-0.5"}, "--temperature: temperature is -0.5, expected a finite number, at least 0"},
      {{"--length", "0"}, "--length: length is 0, expected an int, at least 1"},
      {{"--stop", "x", "--stop", ""}, "stop = [\"x\", \"\"] (--stop): every text holds the empty one"},
      {{"--prompt_file", (folder / "none.txt").string()}, "none.txt: No such file"},
      {{"--prompt_file", (folder / "empty.txt").string()}, "empty.txt\" (--prompt_file): the file is empty"},
      {{"--prompt_file", (folder / "empty.txt").string(), "--chat"}, "(--prompt_file): the file is empty"},
      {{"--prompt", "x", "--no-thinking"}, "(--no-thinking): thoughts are of chats; give --chat too"},
      {{"--prompt", "x", "--prompt_file", "y"}, "prompt = \"x\" (--prompt) and prompt_file = \"y\" (--prompt_file)"},
  };
  for (const auto& [flags, message] : cases) {
    const Ended ended = run_tethys(std::vector<std::string>{"generate", folder.path().string()} + flags);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, HasSubstr(message));
  }
}

TEST(InspectCommand, CountsParametersExactly) {
  const Ended ended = run_tethys({"inspect", "llama3_8b", "--parallelism.data_parallel_shard_degree", "8"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, HasSubstr("llama3_8b: 8,030,261,248 parameters"));
  EXPECT_THAT(ended.output, HasSubstr("57,914,449,920  all scores counted (torchtitan)"));
  // 8,030,261,248 / 8 parameters of 4 bytes.
  EXPECT_THAT(ended.output, testing::ContainsRegex("parameters +4,015,130,624 bytes"));
  EXPECT_THAT(ended.output, testing::ContainsRegex("optimizer +8,030,261,248 bytes"));
}

TEST(InspectCommand, CountsOfExpertsThoseThatATokenGoesThrough) {
  const Ended ended = run_tethys({"inspect", "qwen3_30b_a3b"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, HasSubstr("qwen3_30b_a3b: 30,532,122,624 parameters, 3,353,032,704 of them for a token\n"));
  EXPECT_THAT(ended.output,
              testing::ContainsRegex(R"(layers\.\*\.moe\.expert_bias +48 × \[128\] +6,144  not trained)"));
  // 6 (3,353,032,704 − 151,936 · 2,048) + 6 · 48 · 32 · 256 · 4,096
  EXPECT_THAT(ended.output, HasSubstr("27,914,883,072  all scores counted (torchtitan)"));
  // 4 (30,532,122,624 + 6,144), and 4 · 30,532,122,624.
  EXPECT_THAT(ended.output, testing::ContainsRegex("parameters +122,128,515,072 bytes"));
  EXPECT_THAT(ended.output, testing::ContainsRegex("gradients +122,128,490,496 bytes"));
}

TEST(TokenizerCommands, WhatOneEncodesTheOtherDecodes) {
  TemporaryFolder folder;
  write_file(folder / "a.txt", "the cat and the hat and the bat\n");
  const std::string file = (folder / "made/tokenizer.json").string();
  const Ended trained =
      run_tethys({"tokenizer", "train", (folder / "*.txt").string(), "--vocab_size", "260", "--output", file});
  EXPECT_EQ(trained.status, 0) << trained.output;
  EXPECT_THAT(trained.output, AllOf(HasSubstr("learning merges: done in "), HasSubstr("260 tokens, from 1 file\n"),
                                    Not(HasSubstr("fewer"))));
  const Ended fewer = run_tethys({"tokenizer", "train", (folder / "*.txt").string(), "--vocab_size", "2000", "--output",
                                  (folder / "fewer.json").string()});
  EXPECT_EQ(fewer.status, 0);
  EXPECT_THAT(fewer.output, HasSubstr("fewer than vocab_size = 2000 (--vocab_size)"));
  // The three merges of this text begin with "t" "h".
  std::string ids = run_tethys({"tokenizer", "encode", "the hat", "--tokenizer", file}).output;
  std::vector<std::string> arguments{"tokenizer", "decode", "--tokenizer", file};
  for (size_t begin = 0; begin < ids.size();) {
    const size_t end = ids.find_first_of(" \n", begin);
    arguments.push_back(ids.substr(begin, end - begin));
    begin = end + 1;
  }
  EXPECT_LT(arguments.size(), 4 + std::string("the hat").size());  // merged at least once
  EXPECT_EQ(run_tethys(arguments).output, "the hat\n");
}

}  // namespace
}  // namespace tethys
