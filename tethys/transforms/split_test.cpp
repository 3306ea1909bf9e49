#include "transforms/split.h"

#include <gtest/gtest.h>

#include "ops/control/redistribute.h"
#include "ops/elementwise/convert.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "transforms/grad.h"

namespace tethys {
namespace {

const TensorType kVector{DType::F32, {4}};

std::string text(const Graph& half) {
  verify(half);
  return to_string(half);
}

// y = tanh(x) is in both halves' reach, so it is a residual; its broadcast and its cast are made again from it.
TEST(Split, TheSecondIsGivenWhatIsNotCheapToMakeAgain) {
  Graph g;
  const Value x = g.input(kVector, "x");
  const Value y = tanh(x);
  const Value wide = broadcast(convert(y, DType::F64), {2, 4}, {1});
  const Value sum = reduce_sum(wide, {0});
  const NodeId begin = g.node_count();
  g.set_outputs({multiply(convert(x, DType::F64), sum), y, exponential(wide)});

  const Split halves = split(g, begin);
  EXPECT_EQ(text(*halves.first), R"(%0 = input() {"x"} : f32[4]
%1 = tanh(%0) : f32[4]
%2 = convert(%1) : f64[4]
%3 = broadcast(%2) {dims [1]} : f64[2,4]
%4 = reduce(%3) {sum over [0]} : f64[4]
return %1, %1, %4
)");
  EXPECT_EQ(text(*halves.second), R"(%0 = input() {"x"} : f32[4]
%1 = input() {"residual 1"} : f32[4]
%2 = input() {"residual 4"} : f64[4]
%3 = convert(%1) : f64[4]
%4 = broadcast(%3) {dims [1]} : f64[2,4]
%5 = convert(%0) : f64[4]
%6 = multiply(%5, %2) : f64[4]
%7 = exponential(%4) : f64[2,4]
return %6, %7
)");
  EXPECT_EQ(halves.first_outputs, (std::vector<size_t>{1}));
  EXPECT_EQ(halves.second_outputs, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(halves.residuals, 2u);
}

// An output of the second half that the first has computed already is one of the first's.
TEST(Split, InputsAreNoResiduals) {
  Graph g;
  const Value x = g.input(kVector, "x"), unread = g.input(kVector, "unread");
  const NodeId begin = g.node_count();
  g.set_outputs({negate(x), unread});
  const Split halves = split(g, begin);
  EXPECT_EQ(halves.residuals, 0u);
  EXPECT_EQ(halves.first_outputs, (std::vector<size_t>{1}));
  EXPECT_EQ(halves.second->inputs().size(), 2u);
}

// A weight gathered to be used is gathered again, unless it is to be kept.
TEST(Split, GatheredWeightsAreResidualsWhereTheyAreKept) {
  for (const bool keep : {false, true}) {
    Graph g;
    const Value w = g.input(kVector, "w", Placement{shard(0)}), x = g.input(kVector, "x", Placement{replicate()});
    RedistributeAttributes attributes;
    attributes.keep = keep;
    attributes.target = Placement{replicate()};
    const Value whole = redistribute(w, kVector, attributes);
    const Value loss = reduce_sum(multiply(whole, x), {0});
    const NodeId begin = g.node_count();
    g.set_outputs({loss, *gradients(loss, std::vector<Value>{x}, {})[0]});
    const Split halves = split(g, begin);
    EXPECT_EQ(halves.residuals, keep ? 1u : 0u) << text(*halves.second);
  }
}

}  // namespace
}  // namespace tethys
