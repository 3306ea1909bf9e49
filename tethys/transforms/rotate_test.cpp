#include "transforms/rotate.h"

#include <gtest/gtest.h>

#include "ops/collective/collective.h"
#include "ops/control/barrier.h"
#include "ops/control/scan.h"
#include "ops/registry.h"
#include "transforms/dead_code.h"

namespace tethys {
namespace {

const Mesh kTwo({{"dp_shard", 2}});

// h ← tanh(h + gather(w_t)) over three layers.
std::string rotated_text(bool reverse) {
  Graph g;
  const Value h = g.input({DType::F32, {4}}, "h"), w = g.input({DType::F32, {3, 2}}, "w");
  const auto body = [](Graph&, const ScanOperands& in) {
    return ScanResults{{tanh(add(in.carries[0], all_gather(in.xs[0], kTwo, {0}, 0, true)))}, {}};
  };
  g.set_outputs({scan(g, 3, {{}, {h}, {w}}, body, reverse).carries[0]});
  const auto rotated = without_dead_code(*rotate(g));
  verify(*rotated);
  return to_string(*rotated);
}

TEST(Rotate, EachLayerGathersForTheNext) {
  EXPECT_EQ(rotated_text(false), R"(%0 = input() {"h"} : f32[4]
%1 = input() {"w"} : f32[3,2]
%2 = slice(%1) {[0,0] to [1,2] by [1,1]} : f32[1,2]
%3 = reshape(%2) : f32[2]
%4 = all_gather(%3) {axes [0] dim 0 sum of a parameter} : f32[4]
%5 = splat() {0} : s32[]
%6, %7, %8 = scan(%1, %0, %5, %4) {length 3 consts 1 carries 3} : f32[4], s32[], f32[4]
  %0 = input() {"const0"} : f32[3,2]
  %1 = input() {"carry0"} : f32[4]
  %2 = input() {"carry1"} : s32[]
  %3 = input() {"carry2"} : f32[4]
  %4 = splat() {2} : s32[]
  %5 = splat() {1} : s32[]
  %6 = add(%2, %5) : s32[]
  %7 = minimum(%6, %4) : s32[]
  %8 = splat() {0} : s32[]
  %9 = dynamic_slice(%0, %7, %8) : f32[1,2]
  %10 = reshape(%9) : f32[2]
  %11 = all_gather(%10) {axes [0] dim 0 sum of a parameter} : f32[4]
  %12 = add(%1, %3) : f32[4]
  %13 = tanh(%12) : f32[4]
  return %13, %7, %11
return %6
)");
}

TEST(Rotate, AReversedLoopBeginsWithTheLastLayer) {
  EXPECT_EQ(rotated_text(true), R"(%0 = input() {"h"} : f32[4]
%1 = input() {"w"} : f32[3,2]
%2 = slice(%1) {[2,0] to [3,2] by [1,1]} : f32[1,2]
%3 = reshape(%2) : f32[2]
%4 = all_gather(%3) {axes [0] dim 0 sum of a parameter} : f32[4]
%5 = splat() {2} : s32[]
%6, %7, %8 = scan(%1, %0, %5, %4) {length 3 consts 1 carries 3 reverse} : f32[4], s32[], f32[4]
  %0 = input() {"const0"} : f32[3,2]
  %1 = input() {"carry0"} : f32[4]
  %2 = input() {"carry1"} : s32[]
  %3 = input() {"carry2"} : f32[4]
  %4 = splat() {0} : s32[]
  %5 = splat() {1} : s32[]
  %6 = subtract(%2, %5) : s32[]
  %7 = maximum(%6, %4) : s32[]
  %8 = splat() {0} : s32[]
  %9 = dynamic_slice(%0, %7, %8) : f32[1,2]
  %10 = reshape(%9) : f32[2]
  %11 = all_gather(%10) {axes [0] dim 0 sum of a parameter} : f32[4]
  %12 = add(%1, %3) : f32[4]
  %13 = tanh(%12) : f32[4]
  return %13, %7, %11
return %6
)");
}

// An activation, a parameter behind a barrier, and one that is the same in every iteration.
TEST(Rotate, OtherGathersStay) {
  Graph g;
  const Value h = g.input({DType::F32, {2}}, "h"), w = g.input({DType::F32, {3, 2}}, "w"),
              same = g.input({DType::F32, {2}}, "same");
  const auto body = [](Graph&, const ScanOperands& in) {
    const std::vector<Value> behind = optimization_barrier(std::vector<Value>{in.xs[0], in.carries[0]});
    Value sum = all_gather(in.xs[0], kTwo, {0}, 0);
    sum = add(sum, all_gather(behind[0], kTwo, {0}, 0, true));
    sum = add(sum, all_gather(in.consts[0], kTwo, {0}, 0, true));
    sum = add(sum, all_gather(in.carries[0], kTwo, {0}, 0, true));
    return ScanResults{{reduce_scatter(sum, kTwo, {0}, 0, Reduction::Sum)}, {}};
  };
  g.set_outputs({scan(g, 3, {{same}, {h}, {w}}, body).carries[0]});
  EXPECT_EQ(to_string(*rotate(g)), to_string(g));
}

}  // namespace
}  // namespace tethys
