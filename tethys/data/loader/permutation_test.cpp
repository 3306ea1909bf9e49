#include "data/loader/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tethys {
namespace {

TEST(Permutation, TakesEachPlaceOnce) {
  for (int64_t size = 1; size <= 300; ++size) {
    Permutation order(size, 7, static_cast<uint64_t>(size) % 3);
    std::vector<int> seen(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      int64_t place = order(i);
      ASSERT_TRUE(place >= 0 && place < size);
      ++seen[static_cast<size_t>(place)];
    }
    for (int count : seen) ASSERT_EQ(count, 1);
  }
}

TEST(Permutation, DiffersBySeedAndByEpoch) {
  auto agreeing = [](const Permutation& a, const Permutation& b) {
    int count = 0;
    for (int64_t i = 0; i < 1000; ++i) count += a(i) == b(i);
    return count;
  };
  // Two random orders agree in about one place; in more than eight with a chance of one in a million.
  EXPECT_LE(agreeing(Permutation(1000, 1, 0), Permutation(1000, 1, 1)), 8);
  EXPECT_LE(agreeing(Permutation(1000, 1, 0), Permutation(1000, 2, 0)), 8);
  EXPECT_EQ(agreeing(Permutation(1000, 1, 5), Permutation(1000, 1, 5)), 1000);
}

TEST(Permutation, SendsAPlaceAnywhereAboutEquallyOften) {
  // 20,000 orders of 10. Of random ones the sum below has mean 90 and standard deviation 14 (10/9 of a chi-square of
  // 81 degrees of freedom).
  std::vector<std::vector<int>> counts(10, std::vector<int>(10));
  for (uint64_t epoch = 0; epoch < 20000; ++epoch) {
    Permutation order(10, 3, epoch);
    for (int64_t i = 0; i < 10; ++i) ++counts[static_cast<size_t>(i)][static_cast<size_t>(order(i))];
  }
  double chi_square = 0;
  for (const auto& row : counts) {
    for (int count : row) chi_square += std::pow(count - 2000.0, 2) / 2000.0;
  }
  EXPECT_LT(chi_square, 150);
}

TEST(Permutation, OfManyNeedsNoMemory) {
  int64_t size = int64_t{1} << 50;
  Permutation order(size, 1, 0);
  EXPECT_NE(order(0), order(size - 1));
  EXPECT_LT(order(12345), size);
}

}  // namespace
}  // namespace tethys
