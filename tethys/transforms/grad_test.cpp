#include "transforms/grad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/control/while_loop.h"
#include "ops/elementwise/compare.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Doubles x until its first loop variable reaches five.
Value doubled(Value x) {
  Graph& g = *x.graph;
  const auto below = [](Graph& r, const std::vector<Value>& s) {
    return std::vector<Value>{less(s[0], splat(r, s[0].type(), 5))};
  };
  const auto next = [](Graph& r, const std::vector<Value>& s) {
    return std::vector<Value>{add(s[0], splat(r, s[0].type(), 1)), add(s[1], s[1])};
  };
  return while_loop({splat(g, {DType::S32, {}}, 0), x}, below, next)[1];
}

TEST(Gradients, ThatNobodyHasWrittenAreAnErrorAndNotZero) {
  Graph g;
  const Value x = g.input({DType::F32, {4}}, "x");
  const Scope scope(g, "layers.0");
  const Value y = reduce_sum(doubled(x), {0});
  try {
    gradients(y, std::vector<Value>{x}, {});
    FAIL() << "a gradient through a while_loop";
  } catch (const InternalError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("while_loop has no gradient"), HasSubstr("layers.0")));
  }
}

TEST(Gradients, ALoopThatNothingWantedGoesThroughIsLeftAlone) {
  Graph g;
  const Value x = g.input({DType::F32, {4}}, "x");
  const Value w = g.input({DType::F32, {4}}, "w");
  const auto found = gradients(reduce_sum(multiply(doubled(x), w), {0}), std::vector<Value>{w}, {});
  ASSERT_TRUE(found[0].has_value());
  EXPECT_EQ(found[0]->type(), w.type());
}

TEST(Gradients, OfWhatTheOutputDoesNotDependOnAreAbsent) {
  Graph g;
  const Value x = g.input({DType::F32, {4}}, "x");
  const Value w = g.input({DType::F32, {4}}, "w");
  EXPECT_FALSE(gradients(reduce_sum(x, {0}), std::vector<Value>{w}, {})[0].has_value());
}

}  // namespace
}  // namespace tethys
