#include "train/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"

namespace tethys {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> logits_of(const std::vector<double>& shares) {
  std::vector<double> logits;
  for (double share : shares) logits.push_back(std::log(share) + 3);
  return logits;
}

using Shares = std::map<int32_t, double>;

void expect_shares(const std::vector<double>& shares, const Sampling& sampling, const Shares& expected) {
  const std::vector<Candidate> got = candidates(logits_of(shares), sampling);
  ASSERT_EQ(got.size(), expected.size());
  for (const Candidate& candidate : got) {
    ASSERT_TRUE(expected.contains(candidate.id)) << candidate.id;
    EXPECT_NEAR(candidate.share, expected.at(candidate.id), 1e-15);
  }
}

TEST(Candidates, WithoutTemperatureTheLikeliestIsTheOnlyOneAndOfEqualsTheFirst) {
  for (const Sampling& sampling : {Sampling{}, Sampling{.top_k = 3, .top_p = 0.5}}) {
    EXPECT_EQ(candidates(std::vector<double>{1, 3, 2, 3}, sampling), (std::vector<Candidate>{{1, 1}}));
  }
}

TEST(Candidates, HaveTheSharesOfTheSoftmaxAndTheTemperatureDividesTheLogits) {
  const std::vector<double> shares = {0.125, 0.25, 0.625};
  expect_shares(shares, {.temperature = 1}, {{0, 0.125}, {1, 0.25}, {2, 0.625}});
  // At 1/2 the shares are squared: 1, 4, 25 of 30.
  expect_shares(shares, {.temperature = 0.5}, {{0, 1 / 30.0}, {1, 4 / 30.0}, {2, 25 / 30.0}});
}

TEST(Candidates, TopKAreTheLikeliestAndOfEqualsTheLowestIds) {
  const std::vector<double> shares = {0.1, 0.2, 0.3, 0.2, 0.2};
  expect_shares(shares, {.temperature = 1, .top_k = 1}, {{2, 1}});
  expect_shares(shares, {.temperature = 1, .top_k = 2}, {{1, 0.4}, {2, 0.6}});
  expect_shares(shares, {.temperature = 1, .top_k = 3}, {{1, 2 / 7.0}, {2, 3 / 7.0}, {3, 2 / 7.0}});
  for (int64_t all : {5, 6, 0}) {
    expect_shares(shares, {.temperature = 1, .top_k = all}, {{0, 0.1}, {1, 0.2}, {2, 0.3}, {3, 0.2}, {4, 0.2}});
  }
}

TEST(Candidates, TopPAreTheFewestThatReachTheShare) {
  const std::vector<double> shares = {0.1, 0.4, 0.3, 0.2};
  expect_shares(shares, {.temperature = 1, .top_p = 1e-9}, {{1, 1}});
  expect_shares(shares, {.temperature = 1, .top_p = 0.39}, {{1, 1}});
  expect_shares(shares, {.temperature = 1, .top_p = 0.41}, {{1, 4 / 7.0}, {2, 3 / 7.0}});
  expect_shares(shares, {.temperature = 1, .top_p = 0.69}, {{1, 4 / 7.0}, {2, 3 / 7.0}});
  expect_shares(shares, {.temperature = 1, .top_p = 0.71}, {{1, 4 / 9.0}, {2, 3 / 9.0}, {3, 2 / 9.0}});
  expect_shares(shares, {.temperature = 1, .top_p = 1}, {{0, 0.1}, {1, 0.4}, {2, 0.3}, {3, 0.2}});
  // Equals, half of which reach the half.
  expect_shares({0.25, 0.25, 0.25, 0.25}, {.temperature = 1, .top_p = 0.5}, {{0, 0.5}, {1, 0.5}});
}

TEST(Candidates, TopPIsAShareOfWhatTopKLeavesAtTheTemperature) {
  // 0.4 and 0.3 are left; 0.4 is 57 % of them, and 64 % when squared.
  const std::vector<double> shares = {0.1, 0.4, 0.3, 0.2};
  expect_shares(shares, {.temperature = 1, .top_k = 2, .top_p = 0.56}, {{1, 1}});
  expect_shares(shares, {.temperature = 1, .top_k = 2, .top_p = 0.6}, {{1, 4 / 7.0}, {2, 3 / 7.0}});
  expect_shares(shares, {.temperature = 0.5, .top_k = 2, .top_p = 0.6}, {{1, 1}});
}

TEST(Candidates, AreIdsThatTheTokenizerHas) {
  const std::vector<double> logits = {0, 0, 9};
  EXPECT_EQ(candidates(logits, {.vocab_size = 2}), (std::vector<Candidate>{{0, 1}}));
  EXPECT_EQ(candidates(logits, {.temperature = 1, .vocab_size = 2}), (std::vector<Candidate>{{0, 0.5}, {1, 0.5}}));
}

TEST(Candidates, OfLargeLogitsDoNotOverflow) {
  const std::vector<Candidate> got = candidates(std::vector<double>{1e300, -1e300, -kInfinity}, {.temperature = 1});
  EXPECT_EQ(draw(got, 0.999999), 0);
}

TEST(Candidates, OfAModelThatDivergedAreAnErrorThatNamesTheToken) {
  for (const double bad : {std::nan(""), kInfinity}) {
    try {
      candidates(std::vector<double>{0, bad}, {});
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("token 1 is"), std::string::npos) << error.what();
    }
  }
}

TEST(Draw, TheNumberFallsIntoTheShares) {
  const std::vector<Candidate> three = {{4, 0.125}, {5, 0.25}, {9, 0.625}};
  const std::pair<double, int32_t> expected[] = {{0, 4}, {0.1249, 4}, {0.125, 5}, {0.3749, 5}, {0.375, 9}, {0.9999, 9}};
  for (const auto& [number, id] : expected) EXPECT_EQ(draw(three, number), id) << number;
  // What has no share is not chosen, wherever the number falls.
  const std::vector<Candidate> with_none = {{1, 0}, {2, 1}, {3, 0}};
  EXPECT_EQ(draw(with_none, 0), 2);
  EXPECT_EQ(draw(with_none, 1 - 0x1p-53), 2);
}

TEST(Draw, ManyTimesGivesEachItsShare) {
  // Pearson's statistic with 4 degrees of freedom exceeds 18.47 once in a thousand seeds; this is one seed.
  const std::vector<double> shares = {0.05, 0.1, 0.15, 0.3, 0.4};
  const std::vector<Candidate> all = candidates(logits_of(shares), {.temperature = 1});
  constexpr int kDraws = 20000;
  std::vector<int> counts(shares.size());
  std::mt19937_64 random(1);
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<size_t>(draw(all, uniform(random)))];
  double statistic = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    statistic += std::pow(counts[i] - kDraws * shares[i], 2) / (kDraws * shares[i]);
  }
  EXPECT_LT(statistic, 18.47);
  EXPECT_GT(statistic, 0);
}

}  // namespace
}  // namespace tethys
