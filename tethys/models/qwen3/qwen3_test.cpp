#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "models/qwen3/hf.h"
#include "models/qwen3/plan.h"
#include "models/testing.h"
#include "nn/parameter_store.h"

namespace tethys {
namespace {

using models_testing::built;
using models_testing::recipe;
using models_testing::stored_on;

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::StartsWith;

Config small(bool tied) { return models_testing::small("qwen3_debugmodel", tied, {{"head_dim", 12}, {"ffn_dim", 64}}); }

Config small_moe() {
  return models_testing::small("qwen3_debugmodel_moe", false,
                               {{"head_dim", 12}, {"n_experts", 8}, {"experts_per_token", 2}, {"expert_ffn_dim", 16}});
}

// Of transformers' models of the same sizes: tests/golden/qwen3_torch/parameters.py.
TEST(Qwen3, EveryFlavourHasAsManyParametersAsTransformersModel) {
  const std::vector<std::pair<std::string, int64_t>> flavours = {
      {"qwen3_debugmodel", 31'987'968},    {"qwen3_0.6b", 596'049'920},           {"qwen3_1.7b", 1'720'574'976},
      {"qwen3_4b", 4'022'468'096},         {"qwen3_8b", 8'190'735'360},           {"qwen3_14b", 14'768'307'200},
      {"qwen3_32b", 32'762'123'264},       {"qwen3_debugmodel_moe", 315'758'848}, {"qwen3_30b_a3b", 30'532'122'624},
      {"qwen3_235b_a22b", 235'093'634'560}};
  for (const auto& [name, expected] : flavours) {
    int64_t count = 0;
    built(recipe(name))->for_each_parameter([&](Parameter& p) { count += p.trained() ? p.elements() : 0; });
    EXPECT_EQ(count, expected) << name;
  }
}

TEST(Qwen3, EveryFlavourHasThePublishedPositionsAndEpsilon) {
  for (const std::string name : {"qwen3_debugmodel", "qwen3_0.6b", "qwen3_1.7b", "qwen3_4b", "qwen3_8b", "qwen3_14b",
                                 "qwen3_32b", "qwen3_debugmodel_moe", "qwen3_30b_a3b", "qwen3_235b_a22b"}) {
    const Config config = recipe(name);
    EXPECT_EQ(config.get_float("model.rope_theta"), name == "qwen3_235b_a22b" ? 5e6 : 1e6) << name;
    EXPECT_EQ(config.get_float("model.rope_scaling_factor"), 1) << name;
    EXPECT_EQ(config.get_float("model.norm_eps"), 1e-6) << name;
    EXPECT_EQ(config.get_int("model.head_dim"), 128) << name;
    EXPECT_EQ(config.get_int("model.context_length"), name.starts_with("qwen3_debugmodel") ? 4096 : 40960) << name;
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
  EXPECT_EQ(stored_on(Mesh({{"dp_shard", 2}, {"tp", 2}}), small(false)),
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

TEST(Qwen3Moe, WhatAddsToTheResidualStreamBeginsSmallerTheMoreLayersThereAre) {
  built(small_moe())->for_each_parameter([&](Parameter& p) {
    const std::string& name = p.name();
    const bool adds = name.ends_with("attention.wo.weight") || name.ends_with("experts.w2");
    EXPECT_EQ(to_string(p.initial()), name.ends_with("norm.weight")   ? "ones"
                                      : name.ends_with("expert_bias") ? "zeros"
                                      : adds                          ? "normal std 0.01"  // 0.02 / √(2 · 2)
                                                                      : "normal std 0.02")
        << name;
  });
}

// The first half of the data-parallel ranks has other experts than the second: each is cut further along what the
// experts and the tensor-parallel ranks leave.
TEST(Qwen3Moe, PlanOnAMeshWhereExpertsShareHalfOfTheDataParallelRanks) {
  EXPECT_EQ(stored_on(Mesh({{"dp_shard", 2}, {"dp_shard_ep", 2}, {"tp", 2}}), small_moe()),
            "tok_embeddings.weight: f32[104,32] (S(1),S(1),S(0))\n"
            "layers.*.attention_norm.weight: f32[2,32] (S(1),S(1),R)\n"
            "layers.*.attention.wq.weight: f32[2,48,32] (S(2),S(2),S(1))\n"
            "layers.*.attention.wk.weight: f32[2,24,32] (S(2),S(2),S(1))\n"
            "layers.*.attention.wv.weight: f32[2,24,32] (S(2),S(2),S(1))\n"
            "layers.*.attention.wo.weight: f32[2,32,48] (S(1),S(1),S(2))\n"
            "layers.*.attention.q_norm.weight: f32[2,12] (S(1),S(1),R)\n"
            "layers.*.attention.k_norm.weight: f32[2,12] (S(1),S(1),R)\n"
            "layers.*.ffn_norm.weight: f32[2,32] (S(1),S(1),R)\n"
            "layers.*.moe.expert_bias: f32[2,8] (R,R,R)\n"
            "layers.*.moe.router.gate.weight: f32[2,8,32] (S(1),S(1),R)\n"
            "layers.*.moe.experts.w1: f32[2,8,16,32] (S(3),S(1),S(2))\n"
            "layers.*.moe.experts.w3: f32[2,8,16,32] (S(3),S(1),S(2))\n"
            "layers.*.moe.experts.w2: f32[2,8,32,16] (S(2),S(1),S(3))\n"
            "norm.weight: f32[32] (S(0),S(0),R)\n"
            "output.weight: f32[104,32] (S(1),S(1),S(0))\n");
}

TEST(Qwen3, EveryParameterHasAHuggingFaceNameOfItsOwn) {
  std::set<std::string> names;
  const auto model = built(small(false));
  for (Parameter* p : model->parameters()) {
    const HuggingFaceTensors there = hugging_face_tensors(qwen3_hugging_face(), p->name(), p->dims());
    names.insert(there.names.begin(), there.names.end());
  }
  EXPECT_EQ(names.size(), model->parameters().size());
  EXPECT_TRUE(names.contains("model.layers.1.self_attn.q_norm.weight"));
  EXPECT_TRUE(names.contains("model.layers.0.self_attn.k_norm.weight"));
}

TEST(Qwen3Moe, StackedExpertsHaveAHuggingFaceNameEach) {
  const HuggingFaceTensors w2 = hugging_face_tensors(qwen3_moe_hugging_face(), "layers.17.moe.experts.w2", {3, 32, 16});
  EXPECT_THAT(w2.names, ElementsAre("model.layers.17.mlp.experts.0.down_proj.weight",
                                    "model.layers.17.mlp.experts.1.down_proj.weight",
                                    "model.layers.17.mlp.experts.2.down_proj.weight"));
  EXPECT_EQ(w2.dims, (Dims{32, 16}));
  const HuggingFaceTensors one = hugging_face_tensors(qwen3_moe_hugging_face(), "layers.0.moe.experts.w1", {1, 16, 32});
  EXPECT_THAT(one.names, ElementsAre("model.layers.0.mlp.experts.0.gate_proj.weight"));
  EXPECT_EQ(one.dims, (Dims{16, 32}));
  const HuggingFaceTensors gate =
      hugging_face_tensors(qwen3_moe_hugging_face(), "layers.0.moe.router.gate.weight", {3, 32});
  EXPECT_THAT(gate.names, ElementsAre("model.layers.0.mlp.gate.weight"));
  EXPECT_EQ(gate.dims, (Dims{3, 32}));
}

TEST(Qwen3Moe, ItsOptionsAndItsNameGoTogether) {
  Config none = small_moe(), dense = small(false);
  none.set("model.n_experts", int64_t{0}, {Origin::Source::Flag, "--model.n_experts"});
  dense.set("model.n_experts", int64_t{8}, {Origin::Source::Flag, "--model.n_experts"});
  const auto refusal = [](const Config& config) -> std::string {
    try {
      built(config);
    } catch (const UserError& error) {
      return error.what();
    }
    return "built";
  };
  EXPECT_THAT(refusal(none), AllOf(StartsWith("model.n_experts = 0 (--model.n_experts): model.name = \"qwen3_moe\" ("),
                                   EndsWith(") is made of experts; give their number, such as 64")));
  EXPECT_THAT(refusal(dense),
              AllOf(StartsWith("model.n_experts = 8 (--model.n_experts): model.name = \"qwen3\" ("),
                    EndsWith(") has one feed-forward for all tokens; take an architecture with experts, or 0")));
}

}  // namespace
}  // namespace tethys
