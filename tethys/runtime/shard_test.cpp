#include "runtime/shard.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"

namespace tethys {
namespace {

HostTensor counted(Dims dims) {
  std::vector<float> values(static_cast<size_t>(element_count(dims)));
  std::iota(values.begin(), values.end(), 0.0F);
  return HostTensor::of<float>(std::move(dims), values);
}

std::vector<float> elements(const HostTensor& t) { return {t.as<float>().begin(), t.as<float>().end()}; }

TEST(Shard, ProcessOneOfFourSpeaksOnlyOfItsTwoDevices) {
  const Mesh mesh({{"dp_shard", 8}}, /*process_index=*/1, /*process_count=*/4);
  const std::vector<Shard> shards = addressable_shards({DType::F32, {16, 3}}, {shard(0)}, mesh);
  EXPECT_EQ(shards, (std::vector<Shard>{{2, {4, 0}, {2, 3}}, {3, {6, 0}, {2, 3}}}));
}

TEST(Shard, ReplicasAreReadOnceAndSummandsEach) {
  const Mesh mesh({{"dp_replicate", 2}, {"dp_shard", 2}});
  const TensorType type{DType::F32, {4}};
  auto positions = [&](const Placement& placement) {
    std::vector<int64_t> out;
    for (const Shard& s : unique_shards(type, placement, mesh)) out.push_back(s.position);
    return out;
  };
  EXPECT_EQ(positions({replicate(), shard(0)}), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(positions({shard(0), replicate()}), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(positions({replicate(), replicate()}), (std::vector<int64_t>{0}));
  EXPECT_EQ(positions({partial(), shard(0)}), (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(Shard, CutsTheWindowThatTwoAxesLeave) {
  const Mesh mesh({{"dp_shard", 2}, {"tp", 2}});
  const HostTensor whole = counted({4, 4});
  const std::vector<Shard> shards = addressable_shards(whole.type(), {shard(0), shard(1)}, mesh);
  EXPECT_EQ(elements(cut(whole, shards[0])), (std::vector<float>{0, 1, 4, 5}));
  EXPECT_EQ(elements(cut(whole, shards[3])), (std::vector<float>{10, 11, 14, 15}));
}

TEST(Shard, OneDimensionOverTwoAxesIsCutMajorAxisFirst) {
  const Mesh mesh({{"dp_shard", 2}, {"tp", 2}});
  const HostTensor whole = counted({8});
  const std::vector<Shard> shards = addressable_shards(whole.type(), {shard(0), shard(0)}, mesh);
  EXPECT_EQ(elements(cut(whole, shards[1])), (std::vector<float>{2, 3}));
  EXPECT_EQ(elements(cut(whole, shards[2])), (std::vector<float>{4, 5}));
}

TEST(Shard, JoiningWhatWasCutGivesTheWhole) {
  const Mesh mesh({{"a", 2}, {"b", 3}, {"c", 2}});
  const HostTensor whole = counted({6, 4, 5});
  for (const Placement& placement : {Placement{shard(0), shard(0), replicate()},
                                     {shard(1), shard(0), shard(1)},
                                     {replicate(), replicate(), shard(0)},
                                     {replicate(), shard(0), shard(1)}}) {
    std::vector<HostTensor> parts;
    for (const Shard& s : unique_shards(whole.type(), placement, mesh)) parts.push_back(cut(whole, s));
    EXPECT_EQ(join(whole.type(), placement, mesh, parts), whole) << to_string(placement);
  }
}

TEST(Shard, ARunOfBytesIsKnownWhereTheShardIsOne) {
  const TensorType type{DType::F32, {4, 6, 2}};
  EXPECT_TRUE(is_contiguous(type, {0, {2, 0, 0}, {2, 6, 2}}));
  EXPECT_EQ(first_byte(type, {0, {2, 0, 0}, {2, 6, 2}}), 2 * 6 * 2 * 4);
  EXPECT_TRUE(is_contiguous(type, {0, {1, 3, 0}, {1, 3, 2}}));
  EXPECT_EQ(first_byte(type, {0, {1, 3, 0}, {1, 3, 2}}), (1 * 12 + 3 * 2) * 4);
  EXPECT_FALSE(is_contiguous(type, {0, {0, 3, 0}, {4, 3, 2}}));
  EXPECT_FALSE(is_contiguous(type, {0, {0, 0, 1}, {4, 6, 1}}));
}

TEST(Shard, PartialIsReducedByItsReduction) {
  const Mesh mesh({{"tp", 3}});
  const TensorType type{DType::F32, {2}};
  const std::vector<HostTensor> parts = {HostTensor::of<float>({2}, {1, -5}), HostTensor::of<float>({2}, {2, 7}),
                                         HostTensor::of<float>({2}, {3, 0})};
  EXPECT_EQ(elements(join(type, {partial()}, mesh, parts)), (std::vector<float>{6, 2}));
  EXPECT_EQ(elements(join(type, {partial(Reduction::Max)}, mesh, parts)), (std::vector<float>{3, 7}));
  EXPECT_EQ(elements(join(type, {partial(Reduction::Min)}, mesh, parts)), (std::vector<float>{1, -5}));
}

TEST(Shard, SumsOfFloatsAreRoundedOnce) {
  // 2²⁴ + 1 + 1: in float32 each 1 would be lost.
  const std::vector<HostTensor> parts = {HostTensor::scalar<float>(16777216), HostTensor::scalar<float>(1),
                                         HostTensor::scalar<float>(1)};
  EXPECT_EQ(reduce_parts(parts, Reduction::Sum), HostTensor::scalar<float>(16777218));
}

TEST(Shard, SumsOfIntegersKeepAllTheirBits) {
  const int64_t large = (int64_t{1} << 60) + 1;  // not a double
  const std::vector<HostTensor> parts = {HostTensor::scalar<int64_t>(large), HostTensor::scalar<int64_t>(-3)};
  EXPECT_EQ(reduce_parts(parts, Reduction::Sum), HostTensor::scalar<int64_t>(large - 3));
}

TEST(Shard, EmptyTensorsAndScalarsHaveShards) {
  const Mesh mesh({{"dp_shard", 2}});
  const HostTensor empty(TensorType{DType::F32, {0, 3}});
  std::vector<HostTensor> parts;
  for (const Shard& s : unique_shards(empty.type(), {shard(0)}, mesh)) parts.push_back(cut(empty, s));
  EXPECT_EQ(join(empty.type(), {shard(0)}, mesh, parts), empty);
  const HostTensor scalar = HostTensor::scalar<float>(3);
  EXPECT_EQ(cut(scalar, addressable_shards(scalar.type(), {replicate()}, mesh)[1]), scalar);
}

TEST(Shard, AProcessThatHoldsAPartCannotReadTheWhole) {
  const Mesh mesh({{"dp_shard", 4}}, 1, 2);
  const TensorType type{DType::F32, {8}};
  const std::vector<HostTensor> parts(2, HostTensor(TensorType{DType::F32, {2}}));
  EXPECT_THROW(join(type, {shard(0)}, mesh, parts), InternalError);
}

}  // namespace
}  // namespace tethys
