// Training from outside: what a run leaves behind when it ends, is stopped, is killed, or fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "tools/testing.h"
#include "train/metrics.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

bool has_checkpoint(const Path& run, int64_t step) { return std::filesystem::exists(checkpoint_of(run, step)); }

template <typename Condition>
bool wait_until(Process& process, Condition&& condition) {
  while (process.running()) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

// Rows long enough that 20 steps take a while.
const Flags kSlower = {"--training.seq_len", "128", "--checkpoint.interval", "20"};

class Resume : public testing::TestWithParam<Flags> {};

TEST_P(Resume, AfterAKillEqualsARunThatWasNeverStopped) {
  TemporaryFolder folder;
  const TemporaryFolder cold, colder;
  const Flags flags = kSlower + GetParam();
  expect_done(Process(corpus().train(folder / "whole") + flags, cold.path()).await());
  ASSERT_EQ(curve_of(folder / "whole").size(), 40u);
  // Once with the programs that the whole run left in the cache, once compiled anew.
  for (const Path& cache : {cold.path(), colder.path()}) {
    const Path run = folder / ("cut-" + cache.filename().string());
    Process first(corpus().train(run) + flags, cache);
    ASSERT_TRUE(wait_until(first, [&] { return has_checkpoint(run, 20); }));
    first.kill(SIGKILL);
    EXPECT_EQ(first.await().status, 128 + SIGKILL);
    ASSERT_FALSE(has_checkpoint(run, 40)) << "it was done before it could be killed";
    const Ended resumed = Process(corpus().train(run) + flags + Flags{"--resume"}, cache).await();
    expect_done(resumed);
    EXPECT_THAT(resumed.output, HasSubstr("resuming after step 20"));
    EXPECT_EQ(curve_of(run), curve_of(folder / "whole"));
    EXPECT_EQ(manifest_of(run, 40), manifest_of(folder / "whole", 40));
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, Resume, testing::Values(Flags{}, kFsdp4, kExperts4));

// Every step saves, so that kills at arbitrary moments hit saves too.
TEST(Kill, InASaveLeavesTheEarlierCheckpointUsable) {
  TemporaryFolder folder;
  const Flags flags = {"--checkpoint.interval", "1", "--checkpoint.keep_latest_k", "2", "--training.steps", "30"};
  expect_done(run_tethys(corpus().train(folder / "whole") + flags));
  const Path run = folder / "cut";
  for (int64_t wanted : {3, 9, 16}) {
    Process process(corpus().train(run) + flags + Flags{"--resume"});
    const Path partial = run / fmt::format("checkpoint/.step-{:08}.partial", wanted);
    wait_until(process, [&] { return std::filesystem::exists(partial) || has_checkpoint(run, wanted); });
    process.kill(SIGKILL);
    EXPECT_EQ(process.await().status, 128 + SIGKILL);
  }
  expect_done(run_tethys(corpus().train(run) + flags + Flags{"--resume"}));
  EXPECT_EQ(curve_of(run), curve_of(folder / "whole"));
  EXPECT_EQ(manifest_of(run, 30), manifest_of(folder / "whole", 30));
}

class Stop : public testing::TestWithParam<int> {};

TEST_P(Stop, BySignalFinishesTheStepSavesAndTellsByItsStatus) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  Process process(corpus().train(run) + Flags{"--training.steps", "1000000", "--metrics.log_freq", "1"});
  ASSERT_TRUE(wait_until(process, [&] {
    std::error_code ignored;
    return std::filesystem::exists(run / "metrics.jsonl") &&
           std::filesystem::file_size(run / "metrics.jsonl", ignored) > 0;
  }));
  process.kill(GetParam());
  const Ended ended = process.await();
  EXPECT_EQ(ended.status, 128 + GetParam()) << ended.output;
  const int64_t last = read_metrics(run / "metrics.jsonl").steps.back().step;
  EXPECT_TRUE(has_checkpoint(run, last)) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr(fmt::format("stopped by signal {} after step {}", GetParam(), last)));
}

INSTANTIATE_TEST_SUITE_P(Signals, Stop, testing::Values(SIGTERM, SIGINT, SIGHUP));

// Nothing is half done then, so nothing is waited for.
TEST(Stop, WhileTheStepIsCompiledEndsTheProcessAtOnce) {
  TemporaryFolder folder;
  const TemporaryFolder cold;
  Process process(corpus().train(folder / "run") + Flags{"--model.n_layers", "8"}, cold.path());
  ASSERT_TRUE(wait_until(process, [&] { return process.output().find("step: 4 rows") != std::string::npos; }));
  process.kill(SIGTERM);
  const Ended ended = process.await();
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  EXPECT_THAT(ended.output,
              AllOf(Not(HasSubstr("programs: ")), HasSubstr("stopped by signal 15 before the first step")));
}

TEST(Pipe, WhoseReaderIsGoneDoesNotEndARun) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  Process process(corpus().train(run) + Flags{"--training.steps", "1000000"});
  ASSERT_TRUE(wait_until(process, [&] { return std::filesystem::exists(run / "metrics.jsonl"); }));
  process.kill(SIGPIPE);  // what a write to such a pipe sends
  process.kill(SIGTERM);
  EXPECT_EQ(process.await().status, 128 + SIGTERM);
}

class NotFinite : public testing::TestWithParam<Flags> {};

TEST_P(NotFinite, ChangesNothingNamesStepAndOpAndFails) {
  TemporaryFolder folder;
  const Flags flags = Flags{"--optimizer.lr", "1e30"} + GetParam();
  const Ended ended = run_tethys(corpus().train(folder / "late") + flags);
  EXPECT_EQ(ended.status, 1);
  // Weights near 1e30: their squares are beyond float32 in the first norm.
  EXPECT_THAT(ended.output, AllOf(HasSubstr("step 2: "), HasSubstr("first fault: multiply of layers.0.attention_norm"),
                                  HasSubstr("gives infinity"), HasSubstr("The step changed nothing")));
  // What the failed run saved after the faulty step is what another saved before it.
  EXPECT_EQ(run_tethys(corpus().train(folder / "early") + flags + Flags{"--checkpoint.interval", "1"}).status, 1);
  EXPECT_EQ(manifest_of(folder / "late", 1), manifest_of(folder / "early", 1));
  EXPECT_FALSE(has_checkpoint(folder / "late", 2));
  EXPECT_EQ(read_metrics(folder / "late/metrics.jsonl").steps.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Graphs, NotFinite,
                         testing::Values(Flags{}, Flags{"--graph.scan_layers", "--graph.remat", "full"} + kFsdp4 +
                                                      Flags{"--training.global_batch_size", "8"}));

class DetectNan : public testing::TestWithParam<Flags> {};

// Before the step counts, whatever runs it: the loss of the step before, which was the first, is finite.
TEST_P(DetectNan, NamesOpModuleAndStepInEveryMode) {
  TemporaryFolder folder;
  const Ended ended = run_tethys(corpus().train(folder / "run") + GetParam() +
                                 Flags{"--debug.detect_nan", "--optimizer.lr", "1e30", "--metrics.log_freq", "1"});
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("step 2: multiply of layers.0.attention_norm"));
  EXPECT_THAT(ended.output,
              HasSubstr("gives infinity. The step changed nothing; the newest checkpoint is of step 1\n"));
  EXPECT_THAT(ended.output, Not(HasSubstr("are not both finite")));
  EXPECT_EQ(read_metrics(folder / "run/metrics.jsonl").steps.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Modes, DetectNan,
                         testing::Values(Flags{}, Flags{"--graph.scan_layers"} + kFsdp4, Flags{"--mode", "eager"},
                                         Flags{"--mode", "deferred"}, Flags{"--mode", "compile"},
                                         Flags{"--graph.scan_layers", "--graph.split_offload", "--kernels.attention",
                                               "chunked", "--kernels.loss", "chunked"}));

// Infinity in the update alone, which the loss of the step does not show.
TEST(DetectNan, NamesAnOpOfTheUpdateAndLeavesAHealthyRunAsItIs) {
  TemporaryFolder folder;
  const Flags steps = {"--training.steps", "3", "--metrics.log_freq", "1"};
  expect_done(run_tethys(corpus().train(folder / "plain") + steps));
  expect_done(run_tethys(corpus().train(folder / "checked") + steps + Flags{"--debug.detect_nan"}));
  EXPECT_EQ(curve_of(folder / "checked"), curve_of(folder / "plain"));
  const Ended ended =
      run_tethys(corpus().train(folder / "run") + steps +
                 Flags{"--debug.detect_nan", "--optimizer.lr", "3e38", "--lr_scheduler.warmup_steps", "0"});
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_THAT(ended.output, testing::ContainsRegex("tethys: step [12]: [a-z_]+ of [a-z0-9_.]+ gives infinity"));
}

// The loss of the step is finite still, and the update is not.
TEST(Train, AnUpdateThatOverflowsIsNotSavedInPlaceOfTheLastGoodCheckpoint) {
  TemporaryFolder folder;
  const Flags train = corpus().train(folder / "run") + Flags{"--checkpoint.keep_latest_k", "1", "--training.steps"};
  expect_done(run_tethys(train + Flags{"2"}));
  const std::string manifest = manifest_of(folder / "run", 2);
  for (const char* mode : {"async", "none"}) {
    const Ended ended =
        run_tethys(train + Flags{"3", "--resume", "--optimizer.lr", "3e38", "--checkpoint.async_mode", mode});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.output, HasSubstr("holds values that are not finite: that step is not saved"));
    EXPECT_FALSE(has_checkpoint(folder / "run", 3));
    EXPECT_EQ(manifest_of(folder / "run", 2), manifest);
  }
  expect_done(run_tethys(train + Flags{"3", "--resume"}));
}

TEST(Train, XlaFlagsThatEndThePluginAreNamedInOneLine) {
  TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"--nonsense", "Unknown flag in XLA_FLAGS: --nonsense"},
      {"/no/such/file", "Could not open file \"/no/such/file\""},
      {"--xla_dump_to=/proc/x", "cannot make the folder /proc/x"},
      {"--xla_force_host_platform_device_count=abc", "Couldn't interpret value abc"},
  };
  for (const auto& [flags, reason] : cases) {
    ::setenv("XLA_FLAGS", flags, 1);
    const Ended ended = run_tethys(corpus().train(folder / "run"));
    ::unsetenv("XLA_FLAGS");
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, testing::StartsWith("tethys: XLA_FLAGS "));
    EXPECT_THAT(ended.output, HasSubstr(flags));
    EXPECT_THAT(ended.output, HasSubstr(reason));
    EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1) << ended.output;
  }
}

TEST(Train, APluginThatIsCutShortIsRefused) {
  TemporaryFolder folder;
  std::filesystem::copy_file(std::string(TETHYS_SOURCE_DIR) + "/.deps/plugins/xla_cpu.so", folder / "cut.so");
  std::filesystem::resize_file(folder / "cut.so", 1000000);
  const Ended ended =
      run_tethys(corpus().train(folder / "run") + Flags{"--device.plugin", (folder / "cut.so").string()});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("cut.so is cut short"));
}

TEST(Train, ThatCannotPrintIsAFailureAndOneWithoutAReaderIsNot) {
  TemporaryFolder folder;
  const auto status_of = [&](const std::string& name, const std::string& behind) {
    std::string command = TETHYS_PROGRAM;
    for (const std::string& flag : corpus().train(folder / name) + Flags{"--training.steps", "1"}) {
      command += " '" + flag + "'";
    }
    return WEXITSTATUS(std::system(("bash -c \"set -o pipefail; " + command + behind + " 2>/dev/null\"").c_str()));
  };
  EXPECT_EQ(status_of("full", " >/dev/full"), 1);
  EXPECT_TRUE(has_checkpoint(folder / "full", 1));
  EXPECT_EQ(status_of("dry", " --dry_run >/dev/full"), 1);
  EXPECT_EQ(status_of("headless", " | true"), 0);
}

TEST(Train, ARunsFolderStandsForTheRunWhichGoesOnByItsOwnConfiguration) {
  TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  expect_done(run_tethys(corpus().train(run) + Flags{"--training.steps", "2", "--optimizer.lr", "0.003"}));
  const Ended again = run_tethys({"train", run, "--resume", "--training.steps", "3"});
  expect_done(again);
  EXPECT_THAT(again.output, HasSubstr("changed since the last run: training.steps = 2 → 3\n"));
  EXPECT_THAT(again.output, Not(HasSubstr("optimizer.lr")));
  EXPECT_TRUE(has_checkpoint(run, 3));
  const std::pair<Flags, std::string> mistakes[] = {
      {{"train", run}, run + " is a run: --resume goes on with it"},
      {{"train", run, "--resume", "--output", "x"}, "goes on in its own folder"},
      {{"train", run + "/config.toml", "--resume"}, "give a new one its folder by --output FOLDER"},
  };
  for (const auto& [flags, message] : mistakes) {
    const Ended ended = run_tethys(flags);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, HasSubstr(message));
  }
}

TEST(Train, AFolderOfARunIsRefusedAndResumingAFinishedRunDoesNothing) {
  TemporaryFolder folder;
  const Flags train = corpus().train(folder / "run") + Flags{"--training.steps", "2"};
  expect_done(run_tethys(train));
  const std::string metrics = read_file(folder / "run/metrics.jsonl");
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder / "run"), std::filesystem::directory_iterator());
  };
  const auto before = files();
  const Ended refused = run_tethys(train);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, HasSubstr("holds a run already"));
  const Ended again = run_tethys(train + Flags{"--resume"});
  expect_done(again);
  EXPECT_THAT(again.output,
              HasSubstr("all 2 steps are done: nothing is left to do; --training.steps with a number above 2"));
  EXPECT_EQ(read_file(folder / "run/metrics.jsonl"), metrics);
  EXPECT_EQ(files(), before);
}

TEST(Train, AResumedRunMustReadTheSameDataWithTheSameSeed) {
  TemporaryFolder folder;
  const Flags train = corpus().train(folder / "run") + Flags{"--training.steps", "2"};
  expect_done(run_tethys(train));
  const Flags resumed = train + Flags{"--resume", "--training.steps", "4"};
  const std::pair<Flags, std::string> changes[] = {
      {{"--debug.seed", "5"}, "debug.seed = 5 (--debug.seed), and 0 in "},
      {{"--model.rope_theta", "1e4"}, "model.rope_theta = 10000.0 (--model.rope_theta), and 500000.0 in "},
      {{"--training.seq_len", "16"}, "a run cannot go on with other data"},
      {{"--model.ffn_dim", "128"}, "model.ffn_dim = 128 (--model.ffn_dim), and 64 in "}};
  const std::string config = read_file(folder / "run/config.toml");
  for (const auto& [flags, message] : changes) {
    const Ended ended = run_tethys(resumed + flags);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, HasSubstr(message));
    EXPECT_EQ(read_file(folder / "run/config.toml"), config);
  }
  const Ended more = run_tethys(resumed + Flags{"--optimizer.lr", "0.5"});
  expect_done(more);
  EXPECT_THAT(more.output, AllOf(HasSubstr("changed since the last run: training.steps = 2 → 4\n"),
                                 HasSubstr("changed since the last run: optimizer.lr = 0.0008 → 0.5\n")));
}

// Files of more than 64 KiB fail, as on a full disk; a checkpoint is larger.
TEST(Train, AFullDiskFailsTheRunAndLeavesTheEarlierCheckpoint) {
  TemporaryFolder folder;
  const Flags train = corpus().train(folder / "run") + Flags{"--training.steps", "2"};
  expect_done(run_tethys(train));
  std::string command = "ulimit -f 128; trap '' XFSZ; XDG_CACHE_HOME='" + Process::cache_folder().string() +
                        "' exec '" + TETHYS_PROGRAM + "'";
  for (const std::string& flag : train + Flags{"--resume", "--training.steps", "4"}) command += " '" + flag + "'";
  const int status = std::system((command + " > " + (folder / "output").string() + " 2>&1").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(
      read_file(folder / "output"),
      AllOf(HasSubstr("cannot write "), HasSubstr("File too large; the newest complete checkpoint is of step 2")));
  expect_done(run_tethys(train + Flags{"--resume", "--training.steps", "4"}));
}

// 2^44 parameters, more than any machine holds: found before anything is made or compiled.
TEST(Train, WhatDoesNotFitIntoTheMachineIsRefused) {
  TemporaryFolder folder;
  const Flags huge = {"--model.dim", "1048576", "--model.vocab_size", "16777216"};
  for (const Flags& dry : {Flags{}, Flags{"--dry_run"}}) {
    const Ended ended = run_tethys(corpus().train(folder / "run") + huge + dry);
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.output, AllOf(HasSubstr("of this machine, which has"), HasSubstr("model.vocab_size = 16777216")));
  }
}

TEST(Train, ACompileOptionThatTheCompilerDoesNotKnowIsAMistakeOfTheUsers) {
  TemporaryFolder folder;
  const Ended ended =
      run_tethys(corpus().train(folder / "run") + Flags{"--device.compile_options", "xla_no_such=true"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("device.compile_options = [\"xla_no_such=true\"]"));
}

TEST(Train, WritesItsConfigurationAndValidatesOnHeldOutText) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  expect_done(run_tethys(corpus().train(run) + Flags{"--validation.enable", "--validation.freq", "15"}));
  const RunMetrics metrics = read_metrics(run / "metrics.jsonl");
  ASSERT_EQ(metrics.validations.size(), 3u);  // after steps 15, 30 and the last
  EXPECT_EQ(metrics.validations[1].step, 30);
  EXPECT_EQ(metrics.validations[2].step, 40);
  EXPECT_GT(metrics.validations[2].tokens, 32);
  EXPECT_LT(metrics.validations[2].loss, metrics.validations[0].loss);
  EXPECT_LT(metrics.validations[2].entropy, std::log(300.0));
  const Ended config = run_tethys({"config", (run / "config.toml").string(), "--toml"});
  EXPECT_EQ(config.output, read_file(run / "config.toml"));
  EXPECT_TRUE(std::filesystem::exists(run / "loss.png"));
  EXPECT_THAT(read_file(run / "log.txt"), HasSubstr("step: 40  loss:"));
}

TEST(Train, AMeshOrAModeChangesNoLoss) {
  TemporaryFolder folder;
  const Flags flags = {"--training.steps", "3", "--training.dtype", "float64", "--model.n_layers", "1"};
  expect_done(run_tethys(corpus().train(folder / "graph") + flags));
  expect_done(run_tethys(corpus().train(folder / "mesh") + flags + kFsdp4 + Flags{"--graph.scan_layers"}));
  expect_done(run_tethys(corpus().train(folder / "eager") + flags + Flags{"--mode", "eager"}));
  const Flags deferred = {"--mode", "deferred", "--debug.flushes"};
  const Ended queued = run_tethys(corpus().train(folder / "deferred") + flags + deferred);
  expect_done(queued);
  EXPECT_THAT(queued.output, AllOf(HasSubstr("compiled; because of the end of a step"), HasSubstr("known; because")));
  int64_t flushes = 0;
  for (size_t at = 0; (at = queued.output.find("flush: ", at)) != std::string::npos; ++at) ++flushes;
  EXPECT_EQ(flushes, 3) << "one a step";
  expect_done(run_tethys(corpus().train(folder / "deferred mesh") + flags + deferred + kFsdp4));
  const auto expected = curve_of(folder / "graph");
  ASSERT_EQ(expected.size(), 3u);
  for (const char* other : {"mesh", "eager", "deferred", "deferred mesh"}) {
    const auto curve = curve_of(folder / other);
    ASSERT_EQ(curve.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(curve[i][0], expected[i][0], 1e-9 * expected[i][0]) << other;
      EXPECT_NEAR(curve[i][1], expected[i][1], 1e-9 * expected[i][1]) << other;
    }
  }
}

TEST(Train, ChunkedKernelsChangeNoLoss) {
  TemporaryFolder folder;
  const Flags flags = {"--training.steps", "3", "--training.dtype", "float64"};
  const Flags chunked = {"--kernels.attention", "chunked", "--kernels.attention_block", "10",
                         "--kernels.loss",      "chunked", "--kernels.loss_chunk",      "24"};
  expect_done(run_tethys(corpus().train(folder / "reference") + flags));
  expect_done(run_tethys(corpus().train(folder / "graph") + flags + chunked));
  expect_done(run_tethys(corpus().train(folder / "mesh") + flags + chunked + kFsdp4 + Flags{"--graph.scan_layers"}));
  expect_done(run_tethys(corpus().train(folder / "eager") + flags + chunked + Flags{"--mode", "eager"}));
  expect_done(run_tethys(corpus().train(folder / "deferred") + flags + chunked + Flags{"--mode", "deferred"}));
  const auto expected = curve_of(folder / "reference");
  for (const char* other : {"graph", "mesh", "eager", "deferred"}) {
    const auto curve = curve_of(folder / other);
    ASSERT_EQ(curve.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(curve[i][0], expected[i][0], 1e-9 * expected[i][0]) << other;
      EXPECT_NEAR(curve[i][1], expected[i][1], 1e-9 * expected[i][1]) << other;
    }
  }
}

// The host hears of a step late where a launch blocks until it is done: the time is that of the devices all the same.
TEST(Train, TheLastStepOnSeveralDevicesTakesAsLongAsTheOthers) {
  TemporaryFolder folder;
  expect_done(run_tethys(corpus().train(folder / "run") + kFsdp4 + Flags{"--training.steps", "6"}));
  std::vector<double> seconds;
  for (const StepMetrics& step : read_metrics(folder / "run/metrics.jsonl").steps) seconds.push_back(step.step_seconds);
  ASSERT_EQ(seconds.size(), 6u);
  EXPECT_GT(seconds[5], 0.2 * (seconds[2] + seconds[3] + seconds[4]) / 3);
}

TEST(Train, ADryRunCompilesAndLeavesNothing) {
  TemporaryFolder folder;
  const Ended ended = run_tethys(corpus().train(folder / "run") + kFsdp4 + Flags{"--dry_run"});
  expect_done(ended);
  EXPECT_THAT(ended.output, AllOf(HasSubstr("GiB a device"), HasSubstr("nothing was run")));
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

// The raw file holds exactly one step's rows, so every step reads the same.
TEST(Train, ARunFromWeightsBeginsWhereTheyWere) {
  TemporaryFolder folder;
  std::string tokens;
  for (int i = 0; i < 4 * 32 + 1; ++i) tokens += {static_cast<char>(i * 7 % 256), static_cast<char>(i % 2)};
  write_file(folder / "tokens.bin", tokens);
  const Flags raw = {"--model.vocab_size", "512", "--data.text=", "--data.tokens", (folder / "tokens.bin").string()};
  expect_done(
      run_tethys(corpus().train(folder / "a") + raw + Flags{"--checkpoint.interval", "7", "--training.steps", "8"}));
  const std::string weights = (folder / "a/checkpoint/step-00000007").string();
  expect_done(run_tethys(corpus().train(folder / "b") + raw +
                         Flags{"--checkpoint.initial_load_path", weights, "--training.steps", "1"}));
  EXPECT_EQ(curve_of(folder / "b").at(0), curve_of(folder / "a").at(7));
}

// At such a temperature all ids are equally likely, and a quarter of the model's are none of the tokenizer's.
TEST(Generate, SaysOnlyWhatTheTokenizerKnowsFromWhereverTheRunKeepsItsCheckpoints) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  expect_done(run_tethys(corpus().train(run) +
                         Flags{"--training.steps", "1", "--model.vocab_size", "400", "--checkpoint.folder", "saved"}));
  expect_done(run_tethys({"generate", run.string(), "--prompt", "the cat", "--length", "60", "--temperature", "1e6"}));
}

TEST(Generate, OfACheckpointAloneNeedsTheRecipeOfItsModel) {
  TemporaryFolder folder;
  const Path run = folder / "run", alone = folder / "alone/step-00000001";
  expect_done(run_tethys(corpus().train(run) + Flags{"--training.steps", "1"}));
  std::filesystem::create_directory(folder / "alone");
  std::filesystem::copy(run / "checkpoint/step-00000001", alone);
  const Flags prompt = {"--prompt", "the cat", "--length", "12"};
  const Ended unknown = run_tethys(Flags{"generate", alone.string()} + prompt);
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.output, HasSubstr("for a checkpoint alone give --recipe RECIPE"));
  const Flags recipe = {"--recipe", (run / "config.toml").string()};
  EXPECT_EQ(said_by(run_tethys(Flags{"generate", alone.string()} + recipe + prompt)),
            said_by(run_tethys(Flags{"generate", run.string()} + prompt)));
}

TEST(Generate, TheSameSeedSaysTheSame) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  expect_done(run_tethys(corpus().train(run) + Flags{"--optimizer.lr", "0.01"}));
  const auto say = [&](const Flags& flags) {
    std::string said =
        said_by(run_tethys(Flags{"generate", run.string(), "--prompt", "the cat", "--length", "40"} + flags));
    EXPECT_TRUE(said.starts_with("the cat")) << said;
    return said;
  };
  const Flags warm = {"--temperature", "1"};
  EXPECT_EQ(say(warm + Flags{"--seed", "3"}), say(warm + Flags{"--seed", "3"}));
  EXPECT_NE(say(warm + Flags{"--seed", "3"}), say(warm + Flags{"--seed", "4"}));
  EXPECT_EQ(say({"--seed", "3"}), say({"--seed", "4"}));  // without a temperature there is nothing to choose
  EXPECT_EQ(say(warm + Flags{"--top_k", "1"}), say({}));
  EXPECT_EQ(say(warm + Flags{"--top_p", "1e-9"}), say({}));
}

TEST(Generate, GoesOnWithAFileUntilATextOrTheLength) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  expect_done(run_tethys(corpus().train(run) + Flags{"--optimizer.lr", "0.01"}));
  const std::string prompt = "one ship\n";
  write_file(folder / "prompt.txt", prompt);
  const Flags from_file = {"generate", run.string(), "--prompt_file", (folder / "prompt.txt").string()};
  const std::string whole = said_by(run_tethys(from_file + Flags{"--length", "60"}));
  EXPECT_EQ(said_by(run_tethys({"generate", run.string(), "--prompt", prompt, "--length", "60"})), whole);
  const std::string shorter = said_by(run_tethys(from_file + Flags{"--length", "10"}));
  EXPECT_TRUE(whole.starts_with(shorter.substr(0, shorter.size() - 1))) << whole << shorter;
  EXPECT_LT(shorter.size(), whole.size());
  // Ends before any text that it holds; a comma is a part of one.
  const std::string text = whole.substr(prompt.size());
  const std::string stop = text.substr(text.size() / 2, 3);
  const Flags stops = {"--length", "60", "--stop", "no, never", "--stop", stop};
  EXPECT_EQ(said_by(run_tethys(from_file + stops)), prompt + text.substr(0, text.find(stop)) + "\n");
  const Ended spoken = run_tethys(from_file + Flags{"--length", "3"});
  EXPECT_THAT(spoken.output, testing::ContainsRegex("prefill: [0-9]+ tokens in .* tokens/s; decode: 2 tokens in .* "
                                                    "tokens/s\n"));
}

TEST(Generate, PromptAndLengthThatAreMoreThanTheContextAreRefusedWithAllFigures) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  expect_done(run_tethys(corpus().train(run) + Flags{"--training.steps", "1"}));
  const Flags flags = {"generate", run.string(), "--prompt", "x", "--model.context_length", "8", "--length"};
  expect_done(run_tethys(flags + Flags{"7"}));
  const Ended longer = run_tethys(flags + Flags{"8"});
  EXPECT_EQ(longer.status, 2);
  EXPECT_THAT(longer.output, AllOf(HasSubstr("1 token"), HasSubstr("length = 8"), HasSubstr("context_length = 8")));
}

}  // namespace
}  // namespace tethys
