#include "train/flops.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

TEST(Flops, Llama3With8BParametersAt8192TokensIsTorchtitansFigure) {
  const FlopsModel model{8030261248, 128256 * 4096, 0, 32, 32, 128, 128};
  EXPECT_EQ(flops_per_token(model, 8192), 57914449920.0);
}

TEST(Flops, CausalCountsHalfOfTheScores) {
  const FlopsModel model{100, 40, 0, 2, 3, 5, 7};
  EXPECT_EQ(flops_per_token(model, 11), 6 * 60 + 6 * 2 * 3 * 12 * 11);
  EXPECT_EQ(flops_per_token(model, 11, CountedScores::Causal), 6 * 60 + 3 * 2 * 3 * 12 * 11);
}

TEST(Flops, ExpertsThatATokenDoesNotGoThroughDoNotCount) {
  const FlopsModel model{10000, 4000, 2500, 2, 3, 5, 7};
  EXPECT_EQ(flops_per_token(model, 11), 6 * 3500 + 6 * 2 * 3 * 12 * 11);
  EXPECT_EQ(parameters_text(model), "10,000 parameters, 7,500 of them for a token");
}

TEST(Flops, PeaksAreKnownByTheNamesThatPluginsGive) {
  EXPECT_EQ(peak_flops("TPU v5 lite"), 197e12);
  EXPECT_EQ(peak_flops("TPU v5p"), 459e12);
  EXPECT_EQ(peak_flops("TPU v6 lite"), 918e12);
  EXPECT_EQ(peak_flops("NVIDIA H200"), 989e12);
  EXPECT_EQ(peak_flops("cpu"), std::nullopt);
}

}  // namespace
}  // namespace tethys
