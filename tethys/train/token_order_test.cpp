#include "train/token_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace tethys {
namespace {

TEST(TokenOrder, ARankHasAPieceFromEachEnd) {
  EXPECT_THAT(head_tail_order(8, 2), testing::ElementsAre(0, 1, 6, 7, 2, 3, 4, 5));
  EXPECT_THAT(head_tail_order(4, 1), testing::ElementsAre(0, 1, 2, 3));
}

// Token t looks at t + 1 tokens.
TEST(TokenOrder, RanksLookAtEquallyManyTokens) {
  const std::vector<int64_t> order = head_tail_order(48, 4);
  for (int64_t rank = 0; rank < 4; ++rank) {
    int64_t seen = 0;
    for (int64_t i = 0; i < 12; ++i) seen += order[static_cast<size_t>(rank * 12 + i)] + 1;
    EXPECT_EQ(seen, 48 * 49 / 2 / 4);
  }
}

TEST(TokenOrder, EveryRowIsReordered) {
  const HostTensor rows = HostTensor::of<int32_t>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(in_order(rows, head_tail_order(4, 2)).as<int32_t>(), testing::ElementsAre(1, 4, 2, 3, 5, 8, 6, 7));
  EXPECT_THAT(in_order(rows, {}).as<int32_t>(), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

}  // namespace
}  // namespace tethys
