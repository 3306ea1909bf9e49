#include "train/generation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tethys {
namespace {

TEST(Sample, WithoutTemperatureTheLikeliestIsTakenAndOfEqualsTheFirst) {
  const std::vector<float> logits = {1, 3, 2, 3};
  EXPECT_EQ(sample(logits, 0, 0.99), 1);
}

TEST(Sample, TheNumberFallsIntoTheSharesOfTheSoftmax) {
  // e^(ln 1), e^(ln 2), e^(ln 5): shares 1/8, 2/8, 5/8.
  const std::vector<float> logits = {0, std::log(2.0F), std::log(5.0F)};
  EXPECT_EQ(sample(logits, 1, 0.0), 0);
  EXPECT_EQ(sample(logits, 1, 0.124), 0);
  EXPECT_EQ(sample(logits, 1, 0.126), 1);
  EXPECT_EQ(sample(logits, 1, 0.374), 1);
  EXPECT_EQ(sample(logits, 1, 0.376), 2);
  EXPECT_EQ(sample(logits, 1, 0.999999), 2);
}

TEST(Sample, TemperatureDividesTheLogits) {
  // At 1/2 the shares are squared: 1, 4, 25 of 30.
  const std::vector<float> logits = {0, std::log(2.0F), std::log(5.0F)};
  EXPECT_EQ(sample(logits, 0.5, 0.99 / 30), 0);
  EXPECT_EQ(sample(logits, 0.5, 1.01 / 30), 1);
  EXPECT_EQ(sample(logits, 0.5, 5.01 / 30), 2);
}

TEST(Sample, LargeLogitsDoNotOverflow) {
  const std::vector<float> logits = {1e30F, -1e30F, 0};
  EXPECT_EQ(sample(logits, 1, 0.5), 0);
}

}  // namespace
}  // namespace tethys
