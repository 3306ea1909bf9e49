#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tethys {
namespace {

std::vector<double> factors(const Schedule& schedule) {
  std::vector<double> result;
  for (int64_t step = 0; step < schedule.total; ++step) result.push_back(lr_factor(schedule, step));
  return result;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << "step " << i;
}

TEST(Schedule, TenStepsOfWhichTwoWarmUpAreThePublishedRow) {
  expect_near(factors({.total = 10, .warmup = 2}), {.5, 1, 1, .875, .75, .625, .5, .375, .25, .125});
}

TEST(Schedule, ARatioOfEightTenthsOverTwentyStepsIsThePeers) {  // the lr column of tests/golden/llama3_torch
  const std::vector<double> got = factors({.total = 20, .warmup = 2, .decay_ratio = 0.8});
  EXPECT_EQ(got[0], .5);
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(got[i], 1) << i;
  for (size_t i = 5; i < 20; ++i) EXPECT_NEAR(got[i], 1 - static_cast<double>(i - 4) / 16, 1e-12) << i;
}

TEST(Schedule, ARatioOfZeroNeverDecays) {
  expect_near(factors({.total = 4, .warmup = 1, .decay_ratio = 0}), {1, 1, 1, 1});
  EXPECT_EQ(lr_factor({.total = 4, .warmup = 1, .decay_ratio = 0}, 100), 1);
}

TEST(Schedule, AWarmUpLongerThanTheRunIsCutToIt) {
  expect_near(factors({.total = 4, .warmup = 100}), {.25, .5, .75, 1});
}

TEST(Schedule, TheDecayIsCutToWhatTheWarmUpLeaves) {
  expect_near(factors({.total = 4, .warmup = 2, .decay_ratio = 1}), {.5, 1, 1, .5});
}

TEST(Schedule, ShapesAndFloorOfTheDecay) {
  const Schedule cosine{.total = 4, .decay = Schedule::Decay::Cosine, .min_factor = 0.2};
  expect_near(factors(cosine), {1, 0.2 + 0.8 * (0.5 + std::sqrt(0.125)), 0.6, 0.2 + 0.8 * (0.5 - std::sqrt(0.125))});
  const Schedule root{.total = 4, .decay = Schedule::Decay::Sqrt};
  expect_near(factors(root), {1, 0.5, 1 - std::sqrt(0.5), 1 - std::sqrt(0.75)});
}

}  // namespace
}  // namespace tethys
