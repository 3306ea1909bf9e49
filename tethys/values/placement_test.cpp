#include "values/placement.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tethys {
namespace {

const Mesh kMesh({{"dp_shard", 2}, {"tp", 3}});

TEST(Placement, PrintsOneEntryPerAxis) {
  EXPECT_EQ(to_string(Placement{shard(0), replicate()}), "(S(0),R)");
  EXPECT_EQ(to_string(Placement{partial(), partial(Reduction::Max)}), "(P(sum),P(max))");
  EXPECT_EQ(to_string(Placement{}), "()");
  EXPECT_EQ(replicated(kMesh), (Placement{replicate(), replicate()}));
}

TEST(Placement, KnowsWhetherItIsPartial) {
  EXPECT_TRUE(has_partial({shard(0), partial(Reduction::Min)}));
  EXPECT_FALSE(has_partial({shard(0), replicate()}));
}

TEST(Placement, ADeviceHoldsItsPartOfEachShardedDimension) {
  EXPECT_EQ(local_dims({4, 6}, {shard(0), shard(1)}, kMesh), (Dims{2, 2}));
  EXPECT_EQ(local_dims({4, 6}, {replicate(), partial()}, kMesh), (Dims{4, 6}));
  EXPECT_EQ(local_type({DType::BF16, {4, 6}}, {replicate(), shard(1)}, kMesh), (TensorType{DType::BF16, {4, 2}}));
}

TEST(Placement, ADimensionOfSeveralAxesIsCutMajorFirst) {
  const Placement both = {shard(0), shard(0)};
  EXPECT_EQ(shard_count(both, kMesh, 0), 6);
  EXPECT_EQ(shard_count(both, kMesh, 1), 1);
  for (int64_t device = 0; device < 6; ++device) {
    EXPECT_EQ(local_offsets({12, 5}, both, kMesh, device), (Dims{2 * device, 0}));
  }
}

TEST(Placement, OffsetsAreThoseOfTheDevicesCoordinates) {
  // Device 4 is (1, 1) on the mesh of 2 × 3.
  EXPECT_EQ(local_offsets({4, 6}, {shard(0), shard(1)}, kMesh, 4), (Dims{2, 2}));
  EXPECT_EQ(local_offsets({4, 6}, {shard(1), replicate()}, kMesh, 4), (Dims{0, 3}));
}

TEST(Placement, PaddingRoundsUpToTheParts) {
  EXPECT_EQ(padded_dims({5, 7}, {shard(0), shard(1)}, kMesh), (Dims{6, 9}));
  EXPECT_EQ(padded_dims({5, 7}, {shard(0), shard(0)}, kMesh), (Dims{6, 7}));
  EXPECT_EQ(padded_dims({4, 6}, {shard(0), shard(1)}, kMesh), (Dims{4, 6}));
  EXPECT_EQ(padded_dims({0}, {shard(0), replicate()}, kMesh), Dims{0});
}

TEST(Placement, WhatDoesNotDivideOrDoesNotExistIsABug) {
  try {
    local_dims({4, 7}, {replicate(), shard(1)}, kMesh);
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_STREQ(e.what(),
                 "dimension 1 of [4,7] does not divide into the 3 parts of placement (R,S(1)) on mesh "
                 "dp_shard=2,tp=3");
  }
  EXPECT_THROW(local_dims({4}, {shard(1), replicate()}, kMesh), InternalError);
}

}  // namespace
}  // namespace tethys
