#include <gtest/gtest.h>

#include "base/error.h"
#include "config/config.h"
#include "optim/adamw.h"
#include "optim/clip.h"
#include "optim/groups.h"

namespace tethys {
namespace {

std::vector<ParameterGroup> groups(const std::vector<std::string>& texts) {
  Config config;
  config.set("optimizer.groups", texts, {Origin::Source::Flag, "test"});
  return parameter_groups(config);
}

const std::vector<std::string> kNames = {"tok_embeddings.weight", "layers.0.attention.wq.weight", "norm.weight"};

TEST(ParameterGroups, TheFirstMatchWinsAndTheRestIsTheLastGroup) {
  const auto settings = group_settings(
      groups({"**norm.weight: weight_decay=0", "norm.*: lr_scale=9", "layers.**: lr_scale=0.5"}), 0.1, kNames);
  EXPECT_EQ(settings, (std::vector<GroupSettings>{{1, 0.1}, {0.5, 0.1}, {1, 0}}));
}

TEST(ParameterGroups, APatternThatMatchesNothingIsTheUsersMistake) {
  try {
    group_settings(groups({"layers.*.bias: weight_decay=0"}), 0.1, kNames);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(),
                 "optimizer.groups: the pattern layers.*.bias matches no parameter; parameters have names like "
                 "layers.0.attention.wq.weight");
  }
}

TEST(AdamW, KeepsStorageDtypesAndComputesInFloat32) {
  Graph g;
  auto input = [&](DType dtype, Dims dims) { return Tensor(g.input({dtype, std::move(dims)}, "x")); };
  const AdamWStep step = adamw_step({}, input(DType::S32, {}), input(DType::F32, {}));
  const Moments moments = adamw_moments({}, {input(DType::BF16, {4}), input(DType::F32, {4})}, input(DType::F32, {4}));
  EXPECT_EQ(moments.m.dtype(), DType::BF16);
  EXPECT_EQ(moments.v.dtype(), DType::F32);
  const Tensor parameter =
      adamw_parameter({}, step, input(DType::BF16, {4}), moments, input(DType::F32, {}), input(DType::F32, {}));
  EXPECT_EQ(parameter.dtype(), DType::BF16);
  verify(g);
}

TEST(Clip, TheNormOfNarrowGradientsIsFloat32AndOfFloat64Float64) {
  Graph g;
  const Tensor a = g.input({DType::BF16, {4, 2}}, "a");
  const Tensor b = g.input({DType::F64, {3}}, "b");
  EXPECT_EQ(to_string(global_norm({a}).value().type()), "f32[]");
  EXPECT_EQ(to_string(clip_factor(global_norm({a, b}), 1).value().type()), "f64[]");
}

}  // namespace
}  // namespace tethys
