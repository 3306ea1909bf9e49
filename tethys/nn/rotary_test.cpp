#include "nn/rotary.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

RotaryConfig config(int64_t head_dim, double factor, int64_t original) {
  RotaryConfig c;
  c.head_dim = head_dim;
  c.factor = factor;
  c.original_length = original;
  return c;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12 * expected[i]) << i;
}

// The expected values of both are those of Hugging Face transformers in float64 (tests/golden/llama3_torch).
TEST(Rotary, FrequenciesAreThePeersWhereAllThreeBranchesOfTheScalingAreUsed) {
  expect_near(inverse_frequencies(config(16, 32, 64)),
              {1.0, 0.0671330375110499, 0.001175188466589498, 0.00022789577303803464, 4.419417382415922e-05,
               8.570255489881478e-06, 1.661967467795309e-06, 3.2229329303788936e-07});
}

TEST(Rotary, FrequenciesAreThePeersForTheDebugModel) {
  expect_near(inverse_frequencies(config(16, 8, 8192)),
              {1.0, 0.19392274474868576, 0.03760603093086393, 0.0072926647372171085, 0.0005248461609929547,
               3.428102195952591e-05, 6.647869871181236e-06, 1.2891731721515574e-06});
}

TEST(Rotary, FactorOneLeavesThePowersOfTheta) {
  RotaryConfig c = config(8, 1, 8192);
  c.theta = 10000;
  expect_near(inverse_frequencies(c), {1, 0.1, 0.01, 0.001});
}

TEST(Rotary, AnglesAreComputedInFloat32ForNarrowerDtypes) {
  Graph g;
  const Tensor positions = g.input({DType::S32, {2, 5}}, "positions");
  const Rotations r = rotations(config(16, 8, 8192), positions, DType::BF16);
  EXPECT_EQ(to_string(r.cos_BSE.value().type()), "f32[2,5,8]");
  const Tensor x = g.input({DType::BF16, {2, 5, 3, 16}}, "x");
  EXPECT_EQ(rotate(x, r).value().type(), x.value().type());
}

}  // namespace
}  // namespace tethys
