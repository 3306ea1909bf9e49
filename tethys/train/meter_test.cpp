#include "train/meter.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace tethys {
namespace {

const Clock::time_point kBegin;

Clock::time_point at(double seconds) {
  return kBegin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

class MeterTest : public testing::Test {
 protected:
  // 2 microbatches of 4 rows of 512 tokens on 2 devices: 2048 tokens a step and device.
  Meter meter(const Peak& peak = {1e9, "a data sheet"}) {
    TrainingSetup setup;
    setup.shape = {2, 4, 512};
    setup.degrees.shard = 2;
    // 6 × 1000 for the matmuls and 6 × 1 × 2 × (4 + 4) × 512 = 49152 for all the scores: 55152 per token.
    const FlopsModel flops{1200, 200, 0, 1, 2, 4, 4};
    Meter made(setup, flops, peak, [this] { return device_; });
    made.go_on(at(0));
    return made;
  }

  double device_ = 0;  // seconds that the device's programs took
  StepMetrics metrics_;
  TemporaryFolder folder_;
};

TEST_F(MeterTest, RatesAreThoseOfTheStepsSinceTheLastLine) {
  Meter m = meter();
  m.add(at(8), 4);
  m.fill(metrics_);
  m.add(at(8.5), 0.125);
  m.add(at(10), 0.375);
  m.fill(metrics_);
  EXPECT_EQ(metrics_.step_seconds, 1);
  EXPECT_EQ(metrics_.data_seconds, 0.25);
  EXPECT_EQ(metrics_.tps, 2048);
  EXPECT_DOUBLE_EQ(metrics_.tflops, 2048 * 55152 * 1e-12);
  EXPECT_DOUBLE_EQ(metrics_.mfu, 2048 * 55152 / 1e9);
}

TEST_F(MeterTest, TheSummaryLeavesOutTheFirstStepAndCountsAttentionInBothWays) {
  Meter m = meter();
  m.add(at(100), 0);
  EXPECT_EQ(m.seconds_per_step(), 0);
  EXPECT_EQ(m.summary(), "");
  m.add(at(100.5), 0);
  m.add(at(102), 0);
  device_ = 76.5;
  m.end(at(102));
  EXPECT_EQ(m.seconds_per_step(), 1);
  // 2048 × 55152 = 112.95 MFLOP/s; with half of the scores 2048 × 30576 = 62.62.
  EXPECT_EQ(
      m.summary(),
      "2,048 tokens/s per device; MFU 11.30% counting all scores (torchtitan), 6.26% the causal half (MaxText), of "
      "0.001 TFLOP/s (a data sheet); 25.0% of the time outside of the device's programs");
}

// 2 s of steps, of which the device has 1.5; the 50 s between them, of which it has 30, are not theirs.
TEST_F(MeterTest, WhatComesBetweenTheStepsIsNotOfTheirTime) {
  Meter m = meter();
  m.add(at(1), 0);
  device_ = 0.75;
  m.pause(at(1));
  device_ = 30.75;
  m.go_on(at(51));
  m.add(at(52), 0);
  device_ = 31.5;
  m.end(at(52));
  EXPECT_EQ(m.seconds_per_step(), 1);
  EXPECT_NE(m.summary().find("; 25.0% of the time outside"), std::string::npos) << m.summary();
}

// A step of a second does 112.95 MFLOP: on 4 devices that share a machine that kept 400 MFLOP/s, more than all.
TEST_F(MeterTest, AMeasuredPeakThatARunPassesIsRaisedToItAndKeptForLaterRuns) {
  const Path file = folder_ / "cache/peak.txt";
  Peak peak{0, "measured", file, 4};
  raise(peak, 1e8);
  EXPECT_EQ(kept_peak(file), 4e8);
  Meter m = meter(peak);
  m.add(at(1), 0);
  m.fill(metrics_);
  EXPECT_EQ(metrics_.mfu, 1);
  for (int second = 2; second <= 20; ++second) m.add(at(second), 0);
  EXPECT_EQ(kept_peak(file), 4e8);
  m.end(at(20));
  EXPECT_NE(m.summary().find("MFU 100.00% counting all"), std::string::npos) << m.summary();
  EXPECT_NEAR(kept_peak(file), 4 * 2048.0 * 55152, 1e3);
  raise(peak, 9e7);
  EXPECT_NEAR(kept_peak(file), 4 * 2048.0 * 55152, 1e3);
}

// The second of two steps seemed to take a thousandth of a second.
TEST_F(MeterTest, AFewStepsDoNotRaiseAMeasuredPeak) {
  const Path file = folder_ / "cache/peak.txt";
  Peak peak{0, "measured", file, 4};
  raise(peak, 1e8);
  Meter m = meter(peak);
  m.add(at(1), 0);
  m.add(at(1.001), 0);
  m.end(at(1.001));
  EXPECT_EQ(kept_peak(file), 4e8);
  EXPECT_NE(m.summary().find("MFU 100.00% counting all"), std::string::npos) << m.summary();
}

TEST_F(MeterTest, APeakOfADataSheetStays) {
  Meter m = meter({1e8, "a data sheet"});
  m.add(at(1), 0);
  m.fill(metrics_);
  EXPECT_DOUBLE_EQ(metrics_.mfu, 2048 * 55152 / 1e8);
}

TEST(KeptPeak, IsNoneWhereTheFileHoldsNoNumber) {
  const TemporaryFolder folder;
  EXPECT_EQ(kept_peak(folder / "none"), 0);
  for (const char* text : {"", "x\n", "inf\n", "nan\n"}) {
    write_file(folder / "peak", text);
    EXPECT_EQ(kept_peak(folder / "peak"), 0) << text;
  }
}

}  // namespace
}  // namespace tethys
