#include "transforms/redistribute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/registry.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Mesh kMesh({{"dp_replicate", 2}, {"dp_shard", 4}});
constexpr AxisPlacement kWhole{};

// The ops of a move, with the types they give, but for those that compute indices.
std::vector<std::string> ops_of(const Layout& from, const Layout& to, const Mesh& mesh = kMesh) {
  Graph g;
  const Value x = g.input(local_type(from.type, from.placement, mesh), "x");
  const Value moved = redistribute_local(x, from, to, mesh);
  EXPECT_EQ(moved.type(), local_type(to.type, to.placement, mesh));
  std::vector<std::string> ops;
  for (NodeId n = 1; n < g.node_count(); ++n) {
    const Node& node = g.node(n);
    const TensorType& type = g.type(node.results[0]);
    if (type.rank() == 0 && from.type.rank() > 0) continue;
    std::string axes;
    if (node.op == &all_gather_op || node.op == &reduce_scatter_op || node.op == &all_reduce_op ||
        node.op == &all_to_all_op)
      axes = " " + node.attributes.to_string();
    ops.push_back(fmt::format("{} {}{}", node.op->name, to_string(type), axes));
  }
  return ops;
}

std::vector<std::string> ops_of(DType dtype, Dims dims, const Placement& from, const Placement& to) {
  const TensorType type{dtype, std::move(dims)};
  return ops_of(Layout{type, from}, Layout{type, to});
}

TEST(RedistributeLocal, NothingIsDoneWhereNothingChanges) {
  EXPECT_THAT(ops_of(DType::F32, {8, 6}, {kWhole, shard(0)}, {kWhole, shard(0)}), IsEmpty());
}

TEST(RedistributeLocal, AxesOfOneDimensionAreGatheredTogether) {
  EXPECT_THAT(ops_of(DType::F32, {16, 6}, {shard(0), shard(0)}, {kWhole, kWhole}),
              ElementsAre("all_gather f32[16,6] axes [0,1] dim 0 sum"));
}

TEST(RedistributeLocal, OnlyTheMinorAxisIsGatheredWhereTheMajorStays) {
  EXPECT_THAT(ops_of(DType::F32, {16, 6}, {shard(0), shard(0)}, {shard(0), kWhole}),
              ElementsAre("all_gather f32[8,6] axes [1] dim 0 sum"));
}

// Pieces of pieces are not contiguous: to keep the minor axis both are gathered.
TEST(RedistributeLocal, TheMinorAxisIsCutAgainWhereTheMajorGoes) {
  EXPECT_THAT(ops_of(DType::F32, {16, 6}, {shard(0), shard(0)}, {kWhole, shard(0)}),
              ElementsAre("all_gather f32[16,6] axes [0,1] dim 0 sum", "dynamic_slice f32[4,6]"));
}

TEST(RedistributeLocal, CuttingAWholeIsASlice) {
  EXPECT_THAT(ops_of(DType::F32, {16, 6}, {kWhole, kWhole}, {shard(0), shard(0)}),
              ElementsAre("dynamic_slice f32[2,6]"));
}

// HSDP: the scattered piece is what is reduced over the replicas.
TEST(RedistributeLocal, ASumOverBothAxesIsScatteredBeforeItIsReduced) {
  EXPECT_THAT(ops_of(DType::F32, {16, 6}, {partial(), partial()}, {kWhole, shard(0)}),
              ElementsAre("reduce_scatter f32[4,6] axes [1] dim 0 sum", "all_reduce f32[4,6] axes [0] dim 0 sum"));
  EXPECT_THAT(ops_of(DType::F32, {16, 6}, {partial(), partial()}, {shard(0), shard(0)}),
              ElementsAre("reduce_scatter f32[2,6] axes [0,1] dim 0 sum"));
}

TEST(RedistributeLocal, ASumIsReducedInOneCollectiveBeforeTheRestIsGathered) {
  EXPECT_THAT(ops_of(DType::F32, {16, 6}, {partial(), partial()}, {kWhole, kWhole}),
              ElementsAre("all_reduce f32[16,6] axes [0,1] dim 0 sum"));
  EXPECT_THAT(ops_of(DType::F32, {16, 6}, {partial(), shard(0)}, {kWhole, kWhole}),
              ElementsAre("all_reduce f32[4,6] axes [0] dim 0 sum", "all_gather f32[16,6] axes [1] dim 0 sum"));
}

TEST(RedistributeLocal, AnAxisThatChangesDimensionIsExchanged) {
  EXPECT_THAT(ops_of(DType::F32, {8, 8}, {kWhole, shard(0)}, {kWhole, shard(1)}),
              ElementsAre("all_to_all f32[8,2] axes [1] dim 1 sum"));
}

TEST(RedistributeLocal, SumsAreTakenInTheWiderTypeAndAllElseTravelsInTheNarrower) {
  const Placement sum = {kWhole, partial()}, cut = {kWhole, shard(0)}, whole = {kWhole, kWhole};
  const TensorType narrow{DType::BF16, {8, 6}}, wide{DType::F32, {8, 6}};
  EXPECT_THAT(ops_of({wide, cut}, {narrow, whole}),
              ElementsAre("convert bf16[2,6]", "all_gather bf16[8,6] axes [1] dim 0 sum"));
  EXPECT_THAT(ops_of({narrow, cut}, {wide, whole}),
              ElementsAre("all_gather bf16[8,6] axes [1] dim 0 sum", "convert f32[8,6]"));
  EXPECT_THAT(ops_of({narrow, sum}, {wide, cut}),
              ElementsAre("convert f32[8,6]", "reduce_scatter f32[2,6] axes [1] dim 0 sum"));
  EXPECT_THAT(ops_of({wide, sum}, {narrow, cut}),
              ElementsAre("reduce_scatter f32[2,6] axes [1] dim 0 sum", "convert bf16[2,6]"));
}

TEST(RedistributeLocal, PadsBeforeItScattersAndCutsAfterItGathers) {
  const TensorType logical{DType::F32, {10, 6}}, stored{DType::F32, {12, 6}};
  EXPECT_THAT(ops_of({logical, {kWhole, partial()}}, {stored, {kWhole, shard(0)}}),
              ElementsAre("pad f32[12,6]", "reduce_scatter f32[3,6] axes [1] dim 0 sum"));
  EXPECT_THAT(ops_of({stored, {kWhole, shard(0)}}, {logical, {kWhole, kWhole}}),
              ElementsAre("all_gather f32[12,6] axes [1] dim 0 sum", "slice f32[10,6]"));
}

TEST(RedistributeLocal, AnAxisOfOneDeviceCostsNothing) {
  const Mesh mesh({{"dp_replicate", 1}, {"dp_shard", 4}});
  const TensorType type{DType::F32, {8, 6}};
  EXPECT_THAT(ops_of({type, {partial(), kWhole}}, {type, {shard(1), kWhole}}, mesh), IsEmpty());
}

TEST(RedistributeLocal, AWholeBecomesASumOfItselfAndZeros) {
  EXPECT_THAT(ops_of(DType::F32, {8}, {kWhole, kWhole}, {kWhole, partial()}),
              ElementsAre("splat f32[8]", "broadcast bool[8]", "select f32[8]"));
  EXPECT_THAT(ops_of(DType::F32, {8}, {kWhole, kWhole}, {kWhole, partial(Reduction::Max)}), IsEmpty());
}

}  // namespace
}  // namespace tethys
