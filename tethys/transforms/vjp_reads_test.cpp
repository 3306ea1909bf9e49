#include "transforms/vjp_reads.h"

#include <gtest/gtest.h>

#include "ops/control/checkpoint.h"
#include "ops/elementwise/convert.h"
#include "ops/elementwise/select.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"

namespace tethys {
namespace {

using Ids = std::vector<ValueId>;

Ids reads_of(const Value& result) { return vjp_reads(*result.graph, result.graph->info(result.id).node); }

TEST(VjpReads, AreTheOperandsOrTheResultsThatTheRuleUses) {
  Graph g;
  const Value x = g.input({DType::F32, {4}}, "x");
  const Value y = g.input({DType::F32, {4}}, "y");
  EXPECT_EQ(reads_of(add(x, y)), Ids{});
  EXPECT_EQ(reads_of(multiply(x, y)), (Ids{x.id, y.id}));
  EXPECT_EQ(reads_of(sine(x)), Ids{x.id});
  const Value t = tanh(x);
  EXPECT_EQ(reads_of(t), Ids{t.id});
  const Value quotient = divide(x, y);
  EXPECT_EQ(reads_of(quotient), (Ids{y.id, quotient.id}));
}

TEST(VjpReads, FollowTheAttributesOfTheNode) {
  Graph g;
  const Value x = g.input({DType::F32, {4}}, "x");
  EXPECT_EQ(reads_of(reduce(x, Reduction::Sum, {0})), Ids{});
  const Value highest = reduce(x, Reduction::Max, {0});
  EXPECT_EQ(reads_of(highest), (Ids{x.id, highest.id}));
}

TEST(VjpReads, NothingIsReadWhereThereIsNoGradient) {
  Graph g;
  const Value x = g.input({DType::F32, {4}}, "x");
  const Value n = g.input({DType::S32, {4}}, "n");
  const Value p = g.input({DType::Bool, {4}}, "p");
  EXPECT_EQ(reads_of(floor(x)), Ids{});
  EXPECT_EQ(reads_of(multiply(n, n)), Ids{});
  EXPECT_EQ(reads_of(convert(x, DType::S32)), Ids{});
  EXPECT_EQ(reads_of(select(p, x, x)), Ids{p.id});
  EXPECT_EQ(reads_of(slice(x, {0}, {4}, {2})), Ids{});  // its rule refuses strides
}

TEST(VjpReads, ARegionReadsAllThatItTakesAndGives) {
  Graph g;
  const Value x = g.input({DType::F32, {4}}, "x");
  const Value y =
      checkpoint(g, {x}, [](Graph&, const std::vector<Value>& in) { return std::vector<Value>{tanh(in[0])}; })[0];
  EXPECT_EQ(reads_of(y), (Ids{x.id, y.id}));
}

}  // namespace
}  // namespace tethys
