#include <gtest/gtest.h>

#include "base/units.h"
#include "tools/testing.h"
#include "train/metrics.h"

namespace tethys {
namespace {

// Temporaries of some 400 MiB, which each step takes anew: the process may keep one step's beside the next one's.
TEST(Memory, StaysNearWhatTheRunSaysHoweverManySteps) {
  const SmallCorpus corpus;
  const TemporaryFolder folder;
  const Path output = folder / "run";
  const Ended ended = run_tethys(corpus.train(output) + std::vector<std::string>{"--training.seq_len", "512",
                                                                                 "--training.local_batch_size", "16",
                                                                                 "--training.steps", "6"});
  ASSERT_EQ(ended.status, 0) << ended.output;
  const double said = read_metrics(output / "metrics.jsonl").steps.back().memory_gib;
  EXPECT_GT(said, 0.25);
  EXPECT_GT(gib(ended.peak_memory), said);
  EXPECT_LT(gib(ended.peak_memory), 2 * said + 0.5);
}

}  // namespace
}  // namespace tethys
