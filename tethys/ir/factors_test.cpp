#include "ir/factors.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

TEST(Factors, ElementWiseOperandsAndResultShareOneFactorPerDimension) {
  const Factors f = elementwise_factors({4, 6}, 2, Linearity::Joint);
  ASSERT_EQ(f.factors.size(), 2U);
  EXPECT_EQ(f.factors[0].size, 4);
  EXPECT_EQ(f.factors[1].size, 6);
  EXPECT_EQ(f.factors[1].kind, FactorKind::Pass);
  const TensorFactors tensor = {{0}, {1}};
  EXPECT_EQ(f.operands, (std::vector<TensorFactors>{tensor, tensor}));
  EXPECT_EQ(f.results, std::vector<TensorFactors>{tensor});
  EXPECT_EQ(f.linear, Linearity::Joint);
}

TEST(Factors, PairwiseResultsFollowTheirOperandsAlone) {
  const Factors f = pairwise_factors({{DType::F32, {4, 6}}, {DType::S32, {}}, {DType::F32, {4}}}, FactorKind::Replicate,
                                     Linearity::No);
  ASSERT_EQ(f.factors.size(), 3U);  // the two dimensions of 4 are not one loop
  EXPECT_EQ(f.operands, (std::vector<TensorFactors>{{{0}, {1}}, {}, {{2}}}));
  EXPECT_EQ(f.results, f.operands);
  for (const Factor& factor : f.factors) EXPECT_EQ(factor.kind, FactorKind::Replicate);
  EXPECT_EQ(f.linear, Linearity::No);
}

}  // namespace
}  // namespace tethys
