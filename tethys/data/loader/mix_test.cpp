#include "data/loader/mix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tethys {
namespace {

// How far the sources' counts are from their shares at worst, over all beginnings of the list. Checks on the way that
// each source's rows come one after the other.
double largest_deviation(const std::vector<double>& weights, uint64_t seed, int64_t places) {
  const Mix mix(weights, seed);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int64_t> counts(weights.size(), 0);
  double largest = 0;
  for (int64_t place = 0; place < places; ++place) {
    const Mix::Drawn drawn = mix(place);
    EXPECT_EQ(drawn.index, counts.at(drawn.source)++);
    for (size_t source = 0; source < weights.size(); ++source) {
      const double share = weights[source] / total * static_cast<double>(place + 1);
      largest = std::max(largest, std::abs(static_cast<double>(counts[source]) - share));
    }
  }
  return largest;
}

TEST(Mix, EachSourceHasItsShareOfEveryBeginningToLessThanTheOtherSourcesNumber) {
  const std::vector<std::vector<double>> mixes = {
      {0.7, 0.3}, {1, 1}, {1e-4, 5}, {3, 2, 1}, {1, 1, 1, 1}, {0.01, 0.5, 0.2, 0.2, 0.09}, {1, 1e6, 1, 1e3, 7, 1e6}};
  for (const std::vector<double>& weights : mixes) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      EXPECT_LT(largest_deviation(weights, seed, 20'000), static_cast<double>(weights.size()) - 1);
    }
  }
}

TEST(Mix, TwoOfOneWeightTakeTurns) {
  const Mix mix(std::vector<double>{2, 2}, 1);
  for (int64_t place = 0; place < 100; ++place) EXPECT_NE(mix(place).source, mix(place + 1).source);
}

TEST(Mix, OneSourceTakesEveryPlace) {
  const Mix mix(std::vector<double>{0.1}, 1);
  for (const int64_t place : {int64_t{0}, int64_t{17}, int64_t{1} << 60}) {
    EXPECT_EQ(mix(place).source, 0);
    EXPECT_EQ(mix(place).index, place);
  }
}

TEST(Mix, KeepsItsSharesFarOut) {
  const Mix mix(std::vector<double>{1, 2, 5}, 3);
  const int64_t far = int64_t{1} << 52;
  std::vector<int64_t> counts(3, 0), last(3, -1);
  for (int64_t place = far; place < far + 8000; ++place) {
    const Mix::Drawn drawn = mix(place);
    EXPECT_TRUE(counts[drawn.source]++ == 0 || drawn.index == last[drawn.source] + 1);
    last[drawn.source] = drawn.index;
  }
  EXPECT_NEAR(counts[0], 1000, 4);
  EXPECT_NEAR(counts[1], 2000, 4);
  EXPECT_NEAR(counts[2], 5000, 4);
  EXPECT_NEAR(static_cast<double>(last[2]), 5.0 / 8 * static_cast<double>(far + 8000), 4);
}

TEST(Mix, DependsOnTheSeed) {
  const Mix one(std::vector<double>{5, 3}, 1), two(std::vector<double>{5, 3}, 2), again(std::vector<double>{5, 3}, 1);
  bool differs = false;
  for (int64_t place = 0; place < 100; ++place) {
    EXPECT_EQ(one(place).source, again(place).source);
    differs = differs || one(place).source != two(place).source;
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace tethys
