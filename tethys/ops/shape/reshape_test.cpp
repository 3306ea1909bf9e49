#include <gtest/gtest.h>

#include <algorithm>

#include "ops/registry.h"
#include "ops/shape/shape.h"

namespace tethys {
namespace {

Factors factors_of(Dims from, Dims to) {
  Graph g;
  const Value y = reshape(g.input({DType::F32, std::move(from)}, "x"), std::move(to));
  return reshape_op.factors(g.call(g.info(y.id).node));
}

TEST(ReshapeFactors, AMergedDimensionIsTheProductOfBoth) {
  const Factors f = factors_of({4, 2, 3}, {8, 3});
  EXPECT_EQ(f.operands[0], (TensorFactors{{0}, {1}, {2}}));
  EXPECT_EQ(f.results[0], (TensorFactors{{0, 1}, {2}}));
}

TEST(ReshapeFactors, OfNothingAreWhole) {
  for (const auto& [from, to] : {std::pair<Dims, Dims>{{0, 4}, {4, 0}}, {{0}, {2, 0, 3}}, {{4, 0}, {0}}}) {
    const Factors f = factors_of(from, to);
    EXPECT_EQ(f.operands[0].size(), from.size());
    EXPECT_EQ(f.results[0].size(), to.size());
    EXPECT_TRUE(std::all_of(f.factors.begin(), f.factors.end(),
                            [](const Factor& factor) { return factor.kind == FactorKind::Replicate; }));
  }
}

}  // namespace
}  // namespace tethys
