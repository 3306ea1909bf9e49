#include "ops/collective/part.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

const Mesh kMesh({{"dp_replicate", 2}, {"dp_shard", 4}});

TEST(Part, PartsAreCountedMajorAxisFirst) {
  Graph g;
  g.set_outputs({part_index(g, {shard(0), shard(0)}, 0, kMesh)});
  EXPECT_EQ(to_string(g), R"(%0 = axis_index() {axes [0] dim 0 sum} : s32[]
%1 = splat() {4} : s32[]
%2 = multiply(%0, %1) : s32[]
%3 = axis_index() {axes [1] dim 0 sum} : s32[]
%4 = add(%2, %3) : s32[]
return %4
)");
}

TEST(Part, AxesOfOneDeviceCutNothing) {
  const Mesh mesh({{"dp_shard", 1}, {"cp", 2}, {"tp", 2}});
  EXPECT_EQ(cutting_axes({shard(0), shard(0), shard(1)}, 0, mesh), Dims{1});
  EXPECT_EQ(cutting_axes({shard(0), shard(1), shard(1)}, 1, mesh), (Dims{1, 2}));
}

}  // namespace
}  // namespace tethys
