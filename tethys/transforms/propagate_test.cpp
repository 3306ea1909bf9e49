#include "transforms/propagate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/control/redistribute.h"
#include "ops/dot/dot.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "transforms/grad.h"

namespace tethys {
namespace {

const Mesh kFour({{"dp_shard", 4}});

Value linear(Value x, Value w) { return dot(x, w, {{}, {}, {x.rank() - 1}, {1}}); }

// The weight is stored cut, gathered for use, and its gradient, a sum over the devices, goes back to where it is
// stored.
TEST(Propagate, FullyShardedLinearGathersForwardAndScattersBackward) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  const Value w = g.input({DType::F32, {12, 6}}, "w", Placement{shard(0)});
  const Value y = linear(x, redistribute(w, {replicate()}));
  const Value loss = reduce_sum(y, {0, 1});
  const auto gradient = gradients(loss, std::vector<Value>{w}, {});
  g.set_outputs({loss, *gradient[0]});
  EXPECT_EQ(to_string(*propagate(g, kFour)), R"(%0 = input() {"x"} : f32[8,6](S(0))
%1 = input() {"w"} : f32[12,6](S(0))
%2 = redistribute(%1) {to (R)} : f32[12,6](R)
%3 = dot(%0, %2) {batch []x[] contract [1]x[1]} : f32[8,12](S(0))
%4 = reduce(%3) {sum over [0,1]} : f32[](P(sum))
%5 = splat() {1} : f32[](R)
%6 = broadcast(%5) {dims []} : f32[8,12](R)
%7 = broadcast(%5) {dims []} : f32[8,12](S(0))
%8 = dot(%7, %0) {batch []x[] contract [0]x[0]} : f32[12,6](P(sum))
%9 = redistribute(%8) {to (S(0))} : f32[12,6](S(0))
return %4, %9
)");
}

}  // namespace
}  // namespace tethys
