#include "data/ordered_batches.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace tethys {
namespace {

struct Used {
  std::vector<int> results;
  std::vector<size_t> batches;  // how many items each had
};

// The numbers below `count`, doubled.
Used doubled(int count, int64_t bytes_each, int threads) {
  Used used;
  const auto twice = [&](int worker, int number) {
    EXPECT_TRUE(worker >= 0 && worker < threads);
    return 2 * number;
  };
  const auto use = [&](std::span<const int> numbers, std::span<const int> results) {
    ASSERT_EQ(numbers.size(), results.size());
    used.results.insert(used.results.end(), results.begin(), results.end());
    used.batches.push_back(numbers.size());
  };
  OrderedBatches<int, int> batches(threads, twice, use);
  for (int number = 0; number < count; ++number) batches.add(number, bytes_each);
  batches.finish();
  return used;
}

TEST(OrderedBatches, GiveTheResultsInTheOrderOfTheItems) {
  for (const int threads : {1, 2, 5}) {
    const Used used = doubled(10'000, 1, threads);
    ASSERT_EQ(used.results.size(), 10'000u);
    for (int i = 0; i < 10'000; ++i) ASSERT_EQ(used.results[static_cast<size_t>(i)], 2 * i);
  }
}

TEST(OrderedBatches, HoldSoManyItemsOrBytes) {
  EXPECT_EQ(doubled(10'000, 1, 2).batches, (std::vector<size_t>{4096, 4096, 1808}));
  EXPECT_EQ(doubled(7, int64_t{4} << 20, 2).batches, (std::vector<size_t>{2, 2, 2, 1}));
  EXPECT_EQ(doubled(2, int64_t{1} << 40, 2).batches, (std::vector<size_t>{1, 1}));
}

TEST(OrderedBatches, OfNothingAreNone) { EXPECT_TRUE(doubled(0, 1, 2).batches.empty()); }

TEST(OrderedBatches, ThrowTheErrorOfTheFirstItemThatHasOne) {
  const auto work = [](int, int number) -> int { user_error("{}", number); };
  OrderedBatches<int, int> batches(4, work, [](std::span<const int>, std::span<const int>) { FAIL(); });
  for (int number = 0; number < 100; ++number) batches.add(number, 1);
  try {
    batches.finish();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), "0");
  }
}

}  // namespace
}  // namespace tethys
