#include "checkpoint/window.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "base/error.h"

namespace tethys {
namespace {

std::vector<uint16_t> counting(int64_t n) {
  std::vector<uint16_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), uint16_t{0});
  return values;
}

// The values of the window of a tensor that counts its elements in row-major order.
std::vector<uint16_t> cut(const Dims& dims, const Window& window) {
  std::vector<uint16_t> values(static_cast<size_t>(window.elements()), 9999);
  const std::vector<uint16_t> all = counting(element_count(dims));
  copy_shared(2, whole(dims), std::as_bytes(std::span(all)), window, std::as_writable_bytes(std::span(values)));
  return values;
}

TEST(Window, CopiesABoxOutOfATensor) {
  EXPECT_EQ(cut({3, 4}, {{1, 2}, {2, 2}}), (std::vector<uint16_t>{6, 7, 10, 11}));
  EXPECT_EQ(cut({3, 4}, {{2, 0}, {1, 4}}), (std::vector<uint16_t>{8, 9, 10, 11}));
  EXPECT_EQ(cut({2, 3, 2}, {{0, 1, 0}, {2, 1, 2}}), (std::vector<uint16_t>{2, 3, 8, 9}));
  EXPECT_EQ(cut({2, 3, 2}, {{1, 1, 1}, {1, 2, 1}}), (std::vector<uint16_t>{9, 11}));
  EXPECT_EQ(cut({}, {{}, {}}), (std::vector<uint16_t>{0}));
}

TEST(Window, AnyTilingCopiesToTheSameWhole) {
  const Dims dims = {5, 4, 3};
  const std::vector<uint16_t> all = counting(60);
  for (const Dims& step : {Dims{5, 4, 3}, Dims{2, 4, 3}, Dims{5, 3, 3}, Dims{1, 1, 1}, Dims{3, 2, 2}}) {
    std::vector<uint16_t> joined(60, 9999);
    for (int64_t i = 0; i < 5; i += step[0]) {
      for (int64_t j = 0; j < 4; j += step[1]) {
        for (int64_t k = 0; k < 3; k += step[2]) {
          const Window w = *intersect({{i, j, k}, step}, whole(dims));
          const std::vector<uint16_t> part = cut(dims, w);
          copy_shared(2, w, std::as_bytes(std::span(part)), whole(dims), std::as_writable_bytes(std::span(joined)));
        }
      }
    }
    EXPECT_EQ(joined, all) << to_string(step);
  }
}

TEST(Window, TouchingWindowsShareNothing) {
  EXPECT_EQ(intersect({{0, 0}, {2, 2}}, {{2, 0}, {2, 2}}), std::nullopt);
  EXPECT_EQ(intersect({{0, 0}, {2, 2}}, {{1, 1}, {0, 1}}), std::nullopt);
  EXPECT_EQ(intersect({{0, 0}, {2, 3}}, {{1, 1}, {4, 1}}), (Window{{1, 1}, {1, 1}}));
}

TEST(Window, ARunWithinAnother) {
  const Window outer{{2, 4, 0}, {4, 3, 5}};
  EXPECT_EQ(run_within(2, outer, outer), 0u);
  EXPECT_EQ(run_within(2, {{3, 4, 0}, {2, 3, 5}}, outer), 2u * 15);        // rows of it
  EXPECT_EQ(run_within(2, {{3, 5, 0}, {1, 2, 5}}, outer), 2u * (15 + 5));  // some of one row
  EXPECT_EQ(run_within(2, {{3, 5, 1}, {1, 1, 3}}, outer), 2u * (15 + 5 + 1));
  EXPECT_EQ(run_within(2, {{3, 5, 0}, {2, 2, 5}}, outer), std::nullopt);
  EXPECT_EQ(run_within(2, {{2, 4, 0}, {4, 3, 4}}, outer), std::nullopt);
  EXPECT_EQ(run_within(4, {{}, {}}, {{}, {}}), 0u);
}

TEST(Window, SizesThatOverflowAreFound) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(checked_bytes(DType::F32, {2, 3}), 24);
  EXPECT_EQ(checked_bytes(DType::U8, {most}), most);
  EXPECT_EQ(checked_bytes(DType::BF16, {most}), std::nullopt);
  EXPECT_EQ(checked_bytes(DType::U8, {int64_t{1} << 32, int64_t{1} << 32}), std::nullopt);
  EXPECT_EQ(checked_bytes(DType::U8, {int64_t{1} << 32, int64_t{1} << 32, 0}), std::nullopt);
  EXPECT_EQ(checked_bytes(DType::U8, {-1, -1}), std::nullopt);
  EXPECT_EQ(checked_bytes(DType::U8, {0, most}), 0);
}

TEST(OwnedWindows, AreUnpaddedAndEachElementHasOneOwner) {
  const Mesh mesh({{"dp_replicate", 2}, {"dp_shard", 2}});
  const Window top{{0, 0}, {4, 4}}, bottom{{4, 0}, {3, 4}};
  // 7 rows over 2 devices: 4 and 3; the replica (positions 2, 3) owns nothing.
  EXPECT_EQ(owned_windows({7, 4}, {replicate(), shard(0)}, mesh), (std::vector<OwnedWindow>{{0, top}, {1, bottom}}));
  EXPECT_EQ(owned_windows({7, 4}, {shard(0), replicate()}, mesh), (std::vector<OwnedWindow>{{0, top}, {2, bottom}}));
  EXPECT_EQ(owned_windows({7, 4}, replicated(mesh), mesh), (std::vector<OwnedWindow>{{0, whole({7, 4})}}));
  EXPECT_EQ(owned_windows({}, replicated(mesh), mesh), (std::vector<OwnedWindow>{{0, whole({})}}));
  EXPECT_EQ(owned_windows({0, 4}, {shard(0), shard(0)}, mesh), (std::vector<OwnedWindow>{{0, whole({0, 4})}}));
  // One row over 4 devices: three of them hold padding only.
  EXPECT_EQ(owned_windows({1, 4}, {shard(0), shard(0)}, mesh), (std::vector<OwnedWindow>{{0, whole({1, 4})}}));
  EXPECT_EQ(stored_window({7, 4}, {replicate(), shard(0)}, mesh, 3), (Window{{4, 0}, {4, 4}}));
  EXPECT_THROW(owned_windows({7, 4}, {replicate(), partial()}, mesh), InternalError);
}

}  // namespace
}  // namespace tethys
