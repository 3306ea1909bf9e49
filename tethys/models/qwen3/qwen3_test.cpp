#include <gtest/gtest.h>

#include <set>

#include "models/qwen3/hf.h"
#include "models/qwen3/plan.h"
#include "models/testing.h"
#include "nn/parameter_store.h"

namespace tethys {
namespace {

using models_testing::built;
using models_testing::recipe;

Config small(bool tied) { return models_testing::small("qwen3_debugmodel", tied, {{"head_dim", 12}, {"ffn_dim", 64}}); }

// Of transformers' models of the same sizes: tests/golden/qwen3_torch/parameters.py.
TEST(Qwen3, EveryFlavourHasAsManyParametersAsTransformersModel) {
  const std::vector<std::pair<std::string, int64_t>> flavours = {
      {"qwen3_debugmodel", 31'987'968}, {"qwen3_0.6b", 596'049'920}, {"qwen3_1.7b", 1'720'574'976},
      {"qwen3_4b", 4'022'468'096},      {"qwen3_8b", 8'190'735'360}, {"qwen3_14b", 14'768'307'200},
      {"qwen3_32b", 32'762'123'264}};
  for (const auto& [name, expected] : flavours) {
    int64_t count = 0;
    built(recipe(name))->for_each_parameter([&](Parameter& parameter) { count += parameter.elements(); });
    EXPECT_EQ(count, expected) << name;
  }
}

TEST(Qwen3, EveryFlavourHasThePublishedPositionsAndEpsilon) {
  for (const char* name :
       {"qwen3_debugmodel", "qwen3_0.6b", "qwen3_1.7b", "qwen3_4b", "qwen3_8b", "qwen3_14b", "qwen3_32b"}) {
    const Config config = recipe(name);
    EXPECT_EQ(config.get_float("model.rope_theta"), 1e6) << name;
    EXPECT_EQ(config.get_float("model.rope_scaling_factor"), 1) << name;
    EXPECT_EQ(config.get_float("model.norm_eps"), 1e-6) << name;
    EXPECT_EQ(config.get_int("model.head_dim"), 128) << name;
    EXPECT_EQ(config.get_int("model.context_length"), name == std::string("qwen3_debugmodel") ? 4096 : 40960) << name;
  }
}

TEST(Qwen3, AllButTheNormsBeginsInOneNormalDistribution) {
  for (const bool tied : {false, true}) {
    built(small(tied))->for_each_parameter([&](Parameter& p) {
      EXPECT_EQ(to_string(p.initial()), p.name().ends_with("norm.weight") ? "ones" : "normal std 0.02") << p.name();
    });
  }
}

TEST(Qwen3, PlanOnAMeshOfDataAndTensorParallelRanks) {
  const auto model = built(small(false));
  StoreOptions options;
  options.mesh = Mesh({{"dp_shard", 2}, {"tp", 2}});
  options.stack_layers = true;
  EXPECT_EQ(to_string(make_store(*model, qwen3_plan({}), options)),
            "tok_embeddings.weight: f32[104,32] (S(1),S(0))\n"
            "layers.*.attention_norm.weight: f32[2,32] (S(1),R)\n"
            "layers.*.attention.wq.weight: f32[2,48,32] (S(2),S(1))\n"
            "layers.*.attention.wk.weight: f32[2,24,32] (S(2),S(1))\n"
            "layers.*.attention.wv.weight: f32[2,24,32] (S(2),S(1))\n"
            "layers.*.attention.wo.weight: f32[2,32,48] (S(1),S(2))\n"
            "layers.*.attention.q_norm.weight: f32[2,12] (S(1),R)\n"
            "layers.*.attention.k_norm.weight: f32[2,12] (S(1),R)\n"
            "layers.*.ffn_norm.weight: f32[2,32] (S(1),R)\n"
            "layers.*.feed_forward.w1.weight: f32[2,64,32] (S(2),S(1))\n"
            "layers.*.feed_forward.w2.weight: f32[2,32,64] (S(1),S(2))\n"
            "layers.*.feed_forward.w3.weight: f32[2,64,32] (S(2),S(1))\n"
            "norm.weight: f32[32] (S(0),R)\n"
            "output.weight: f32[104,32] (S(1),S(0))\n");
}

TEST(Qwen3, EveryParameterHasAHuggingFaceNameOfItsOwn) {
  std::set<std::string> names;
  const auto model = built(small(false));
  for (Parameter* p : model->parameters()) names.insert(hugging_face_name(qwen3_hugging_face(), p->name()));
  EXPECT_EQ(names.size(), model->parameters().size());
  EXPECT_TRUE(names.contains("model.layers.1.self_attn.q_norm.weight"));
  EXPECT_TRUE(names.contains("model.layers.0.self_attn.k_norm.weight"));
}

}  // namespace
}  // namespace tethys
