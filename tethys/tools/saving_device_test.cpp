// What a run saves and what it starts from, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "checkpoint/store.h"
#include "tools/testing.h"
#include "train/metrics.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Flags kShort = {"--training.steps", "12"};

std::vector<double> losses_of(const Path& run) {
  std::vector<double> losses;
  for (const StepMetrics& m : read_metrics(run / "metrics.jsonl").steps) losses.push_back(m.loss);
  return losses;
}

class AsyncSave : public testing::TestWithParam<Flags> {};

// A copy that a step overtook would hold the next step's values, or nothing.
TEST_P(AsyncSave, WritesWhatASaveThatStepsWaitForWrites) {
  TemporaryFolder folder;
  const Flags flags = kShort + GetParam() + Flags{"--checkpoint.interval", "1", "--checkpoint.keep_latest_k", "0"};
  expect_done(run_tethys(corpus().train(folder / "async") + flags));
  expect_done(run_tethys(corpus().train(folder / "waits") + flags + Flags{"--checkpoint.async_mode", "none"}));
  for (int64_t step = 1; step <= 12; ++step) {
    EXPECT_EQ(manifest_of(folder / "async", step), manifest_of(folder / "waits", step)) << step;
    Checkpoint(checkpoint_of(folder / "async", step)).verify();
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, AsyncSave,
                         testing::Values(Flags{},
                                         Flags{"--graph.scan_layers", "--parallelism.data_parallel_shard_degree", "2",
                                               "--parallelism.tensor_parallel_degree", "2"}));

// A limit on the size of files stands for a full disk.
TEST(FullDisk, InTheFirstSaveEndsTheRunWithItsReasonAndARunThatIsResumedBeginsAnew) {
  TemporaryFolder folder;
  const Flags flags = kShort + Flags{"--checkpoint.interval", "4"};
  expect_done(run_tethys(corpus().train(folder / "whole") + flags));
  const Path run = folder / "cut";
  std::string command = "trap '' XFSZ; ulimit -f 64; exec " TETHYS_PROGRAM;
  for (const std::string& word : corpus().train(run) + flags) command += " '" + word + "'";
  command = "XDG_CACHE_HOME='" + Process::cache_folder().string() + "' bash -c \"" + command + "\" >'" +
            (folder / "output").string() + "' 2>&1";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  const std::string output = read_file(folder / "output");
  EXPECT_THAT(output, AllOf(HasSubstr("process-00000.safetensors"), HasSubstr("File too large"),
                            HasSubstr("nothing is saved yet")));
  EXPECT_EQ(CheckpointStore(run / "checkpoint").newest(), std::nullopt);
  expect_done(run_tethys(corpus().train(run) + flags + Flags{"--resume"}));
  EXPECT_EQ(manifest_of(run, 12), manifest_of(folder / "whole", 12));
}

TEST(TwoProcesses, OnOneOutputFolderTheSecondIsRefused) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  Process first(corpus().train(run) + Flags{"--training.steps", "1000000"});
  while (first.running() && !std::filesystem::exists(run / "metrics.jsonl")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(first.running());
  const Ended second = run_tethys(corpus().train(run) + Flags{"--resume"});
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.output, AllOf(HasSubstr(run.string()), HasSubstr("is in use by process")));
  EXPECT_EQ(run_tethys(corpus().train(run)).status, 2);
  first.kill(SIGTERM);
  EXPECT_EQ(first.await().status, 128 + SIGTERM);
}

TEST(SeedCheckpoint, GivesEveryMeshTheSameFirstBits) {
  TemporaryFolder folder;
  const Flags seed = {"--checkpoint.create_seed_checkpoint", "--debug.seed", "3"};
  const Ended made = run_tethys(corpus().train(folder / "seed") + seed);
  expect_done(made);
  EXPECT_THAT(made.output, HasSubstr("step-00000000"));
  const Flags from = {
      "--checkpoint.initial_load_path", (folder / "seed").string(), "--training.steps", "1", "--optimizer.lr", "0"};
  const Flags fsdp = kFsdp4 + Flags{"--graph.scan_layers"};
  expect_done(run_tethys(corpus().train(folder / "one") + from));
  expect_done(run_tethys(corpus().train(folder / "four") + from + fsdp));
  // A step with no learning rate leaves the values as they are.
  Checkpoint seeded(checkpoint_of(folder / "seed", 0));
  for (const char* name : {"one", "four"}) {
    Checkpoint trained(checkpoint_of(folder.path() / name, 1));
    for (const auto& [tensor, entry] : seeded.manifest().tensors) EXPECT_EQ(trained.read(tensor), seeded.read(tensor));
  }
  // In its own folder a run goes on from it.
  const Ended resumed = run_tethys(corpus().train(folder / "seed") + kShort + Flags{"--resume", "--debug.seed", "3"});
  expect_done(resumed);
  EXPECT_THAT(resumed.output, HasSubstr("resuming after step 0"));
  expect_done(run_tethys(corpus().train(folder / "anew") + kShort + Flags{"--debug.seed", "3"}));
  EXPECT_EQ(manifest_of(folder / "seed", 12), manifest_of(folder / "anew", 12));
}

TEST(ExcludeFromLoading, KeepsTheInitialValuesOfWhatItNames) {
  TemporaryFolder folder;
  expect_done(run_tethys(corpus().train(folder / "a") + kShort));
  expect_done(run_tethys(corpus().train(folder / "init") + Flags{"--checkpoint.create_seed_checkpoint"}));
  const Flags from = {
      "--checkpoint.initial_load_path", (folder / "a").string(), "--training.steps", "1", "--optimizer.lr", "0"};
  const Flags without = {"--checkpoint.exclude_from_loading", "output.weight,layers.1.**"};
  expect_done(run_tethys(corpus().train(folder / "b") + from + without + Flags{"--graph.scan_layers"} + kFsdp4));
  Checkpoint a(checkpoint_of(folder / "a", 12)), b(checkpoint_of(folder / "b", 1)),
      init(checkpoint_of(folder / "init", 0));
  int kept = 0;
  for (const auto& [name, entry] : init.manifest().tensors) {
    const bool excluded = name == "output.weight" || name.starts_with("layers.1.");
    kept += excluded ? 1 : 0;
    EXPECT_EQ(b.read(name), (excluded ? init : a).read(name)) << name;
  }
  EXPECT_EQ(kept, 10);
  const Ended unknown =
      run_tethys(corpus().train(folder / "c") + from + Flags{"--checkpoint.exclude_from_loading", "output.wieght"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.output, HasSubstr("no parameter matches \"output.wieght\"; the nearest is output.weight"));
}

TEST(LastSave, OfTheModelAloneInBF16IsWhatTheFullOneRounds) {
  TemporaryFolder folder;
  const Flags alone = {"--checkpoint.last_save_model_only", "--checkpoint.export_dtype", "bfloat16"};
  expect_done(run_tethys(corpus().train(folder / "full") + kShort));
  expect_done(run_tethys(corpus().train(folder / "alone") + kShort + alone));
  EXPECT_EQ(losses_of(folder / "full"), losses_of(folder / "alone"));
  Checkpoint full(checkpoint_of(folder / "full", 12)), rounded(checkpoint_of(folder / "alone", 12));
  size_t parameters = 0;
  for (const auto& [name, tensor] : full.manifest().tensors) {
    if (name.starts_with("optimizer.")) continue;
    ++parameters;
    const HostTensor value = full.read(name);
    EXPECT_EQ(rounded.read(name), HostTensor::from_doubles({DType::BF16, value.type().dims}, value.to_doubles()));
  }
  EXPECT_EQ(rounded.manifest().tensors.size(), parameters);
  // It cannot be gone on with, a finished run is finished, and a new run may start from it.
  const Flags more = {"--training.steps", "20", "--resume"};
  const Ended refused = run_tethys(corpus().train(folder / "alone") + more);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, AllOf(HasSubstr("holds weights alone"), HasSubstr("--checkpoint.initial_load_path")));
  expect_done(run_tethys(corpus().train(folder / "alone") + kShort + alone + Flags{"--resume"}));
  expect_done(run_tethys(corpus().train(folder / "next") + kShort +
                         Flags{"--checkpoint.initial_load_path", (folder / "alone").string()}));
  expect_done(run_tethys({"generate", (folder / "alone").string(), "--prompt", "the", "--length", "8"}));
}

}  // namespace
}  // namespace tethys
