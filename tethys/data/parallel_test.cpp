#include "data/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "base/error.h"

namespace tethys {
namespace {

TEST(ParallelFor, VisitsEachIndexOnce) {
  for (int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> visits(1000);
    parallel_for(1000, threads, [&](int worker, int64_t index) {
      ASSERT_TRUE(worker >= 0 && worker < threads);
      ++visits[static_cast<size_t>(index)];
    });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, ThrowsTheErrorOfTheLowestIndex) {
  for (int round = 0; round < 20; ++round) {
    try {
      parallel_for(100, 4, [](int, int64_t index) {
        if (index >= 10) user_error("{}", index);
      });
      FAIL();
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()), "10");
    }
  }
}

TEST(ParallelFor, OfNothingDoesNothing) {
  parallel_for(0, 4, [](int, int64_t) { FAIL(); });
}

}  // namespace
}  // namespace tethys
