#include "train/meter.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

// 2 microbatches of 4 rows of 512 tokens on 2 devices: 2048 tokens a step and device.
Meter meter() {
  TrainingSetup setup;
  setup.shape = {2, 4, 512};
  setup.degrees.shard = 2;
  // 6 × 1000 for the matmuls and 6 × 1 × 2 × (4 + 4) × 512 = 49152 for all the scores: 55152 per token.
  const FlopsModel flops{1200, 200, 1, 2, 4, 4};
  return Meter(setup, flops, {1e9, "a data sheet"});
}

TEST(Meter, RatesAreThoseOfTheStepsSinceTheLastLine) {
  Meter m = meter();
  StepMetrics metrics;
  m.add(8, 4);
  m.fill(metrics);
  m.add(0.5, 0.125);
  m.add(1.5, 0.375);
  m.fill(metrics);
  EXPECT_EQ(metrics.step_seconds, 1);
  EXPECT_EQ(metrics.data_seconds, 0.25);
  EXPECT_EQ(metrics.tps, 2048);
  EXPECT_DOUBLE_EQ(metrics.tflops, 2048 * 55152 * 1e-12);
  EXPECT_DOUBLE_EQ(metrics.mfu, 2048 * 55152 / 1e9);
}

TEST(Meter, TheSummaryLeavesOutTheFirstStepAndCountsAttentionInBothWays) {
  Meter m = meter();
  m.add(100, 0);
  EXPECT_EQ(m.seconds_per_step(), 0);
  EXPECT_EQ(m.summary(), "");
  m.add(0.5, 0);
  m.add(1.5, 0);
  m.set_device_seconds(4, 3);
  EXPECT_EQ(m.seconds_per_step(), 1);
  // 2048 × 55152 = 112.95 MFLOP/s; with half of the scores 2048 × 30576 = 62.62.
  EXPECT_EQ(
      m.summary(),
      "2,048 tokens/s per device; MFU 11.30% counting all scores (torchtitan), 6.26% the causal half (MaxText), of "
      "0.001 TFLOP/s (a data sheet); 25.0% of the time outside of the device's programs");
}

}  // namespace
}  // namespace tethys
