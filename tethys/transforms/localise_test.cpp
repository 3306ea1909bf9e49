#include "transforms/localise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/control/redistribute.h"
#include "ops/control/scan.h"
#include "ops/dot/dot.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "transforms/grad.h"
#include "transforms/propagate.h"

namespace tethys {
namespace {

const Mesh kFour({{"dp_shard", 4}});

std::string local_text(Graph& g, const Mesh& mesh, const std::vector<Value>& outputs) {
  g.set_outputs(outputs);
  const auto local = localise(*propagate(g, mesh), mesh);
  verify(*local);
  return to_string(*local);
}

TEST(Localise, FullyShardedLinearBecomesOneGatherAndOneScatter) {
  Graph g;
  const Value x = g.input({DType::BF16, {8, 6}}, "x", Placement{shard(0)});
  const Value w = g.input({DType::F32, {12, 6}}, "w", Placement{shard(0)});
  const Value used = redistribute(w, {DType::BF16, {12, 6}}, {Placement{replicate()}, DType::F32, false});
  const Value loss = reduce_sum(dot(x, used, {{}, {}, {1}, {1}}), {0, 1});
  const auto gradient = gradients(loss, std::vector<Value>{w}, {});
  EXPECT_EQ(local_text(g, kFour, {loss, *gradient[0]}), R"(%0 = input() {"x"} : bf16[2,6](S(0))
%1 = input() {"w"} : f32[3,6](S(0))
%2 = convert(%1) : bf16[3,6]
%3 = all_gather(%2) {axes [0] dim 0 sum of a parameter} : bf16[12,6]
%4 = dot(%0, %3) {batch []x[] contract [1]x[1]} : bf16[2,12]
%5 = reduce(%4) {sum over [0,1]} : bf16[](P(sum))
%6 = splat() {1} : bf16[]
%7 = broadcast(%6) {dims []} : bf16[2,12]
%8 = dot(%7, %0) {batch []x[] contract [0]x[0]} : f32[12,6]
%9 = reduce_scatter(%8) {axes [0] dim 0 sum} : f32[3,6](S(0))
return %5, %9
)");
}

TEST(Localise, AnIotaCountsFromThisDevicesPart) {
  Graph g;
  const Value rows = redistribute(iota(g, {DType::S32, {8, 2}}, 0), {shard(0)});
  const Value columns = redistribute(iota(g, {DType::F32, {8, 2}}, 1), {shard(0)});
  EXPECT_EQ(local_text(g, kFour, {rows, columns}), R"(%0 = iota() {dim 0} : s32[2,2]
%1 = splat() {2} : s32[]
%2 = axis_index() {axes [0] dim 0 sum} : s32[]
%3 = multiply(%2, %1) : s32[]
%4 = broadcast(%3) {dims []} : s32[2,2]
%5 = add(%0, %4) : s32[2,2](S(0))
%6 = iota() {dim 1} : f32[2,2](S(0))
return %5, %6
)");
}

TEST(Localise, RegionsBecomeLocalToo) {
  Graph g;
  const Value xs = g.input({DType::F32, {3, 8, 6}}, "xs", Placement{shard(1)});
  const Value zeros = splat(g, {DType::F32, {8, 6}}, 0);
  const ScanResults out = scan(g, 3, {{}, {zeros}, {xs}}, [](Graph& region, const ScanOperands& in) {
    const Value twos = splat(region, in.xs[0].type(), 2);
    return ScanResults{{add(in.carries[0], multiply(in.xs[0], twos))}, {reduce_sum(in.xs[0], {0})}};
  });
  EXPECT_EQ(local_text(g, kFour, {out.carries[0], out.ys[0]}), R"(%0 = input() {"xs"} : f32[3,2,6](S(1))
%1 = splat() {0} : f32[2,6]
%2, %3 = scan(%1, %0) {length 3 consts 0 carries 1} : f32[2,6](S(0)), f32[3,6](P(sum))
  %0 = input() {"carry0"} : f32[2,6](S(0))
  %1 = input() {"x0"} : f32[2,6](S(0))
  %2 = splat() {2} : f32[2,6]
  %3 = multiply(%1, %2) : f32[2,6]
  %4 = add(%0, %3) : f32[2,6](S(0))
  %5 = reduce(%1) {sum over [0]} : f32[6](P(sum))
  return %4, %5
return %2, %3
)");
}

// What only says where a gradient goes is not computed.
TEST(Localise, WhatIsOnlyAModelOfPlacementIsNotComputed) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  const Value like = tanh(x);
  EXPECT_EQ(local_text(g, kFour, {redistribute_like(reduce_sum(broadcast(x, {2, 8, 6}, {1, 2}), {0}), like)}),
            R"(%0 = input() {"x"} : f32[2,6](S(0))
%1 = broadcast(%0) {dims [1,2]} : f32[2,2,6]
%2 = reduce(%1) {sum over [0]} : f32[2,6](S(0))
return %2
)");
}

TEST(Localise, OneValueReturnedAtTwoPlacementsIsMarkedTwice) {
  const Mesh mesh({{"tp", 1}});
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  g.set_outputs({x, redistribute(x, {replicate()})});
  const auto local = localise(*propagate(g, mesh), mesh);
  EXPECT_EQ(local->info(local->inputs()[0]).placement, Placement{shard(0)});
  EXPECT_EQ(local->info(local->outputs()[0]).placement, Placement{shard(0)});
  EXPECT_EQ(local->info(local->outputs()[1]).placement, Placement{replicate()});
}

}  // namespace
}  // namespace tethys
