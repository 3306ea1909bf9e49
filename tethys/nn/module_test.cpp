#include "nn/module.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/attention.h"
#include "nn/embedding.h"
#include "nn/feed_forward.h"
#include "nn/plan.h"
#include "nn/rms_norm.h"
#include "ops/control/redistribute.h"

namespace tethys {
namespace {

GatedFeedForwardConfig feed_forward_config() {
  GatedFeedForwardConfig config;
  config.w1 = std::make_unique<LinearConfig>(8, 12, normal(1));
  config.w2 = std::make_unique<LinearConfig>(12, 8, normal(1));
  config.w3 = std::make_unique<LinearConfig>(8, 12, normal(1));
  config.w1->bias = true;
  return config;
}

void bind_all(Graph& graph, Module& module) {
  module.for_each_parameter([&](Parameter& p) { graph.bind(&p, graph.input(p.stored_type(), p.name())); });
}

std::vector<std::string> names(Module& module) {
  std::vector<std::string> result;
  module.for_each_parameter([&](Parameter& p) { result.push_back(p.name()); });
  return result;
}

TEST(Module, VisitsParametersInOrderByFullName) {
  const auto module = feed_forward_config().build("layers.0.feed_forward");
  EXPECT_EQ(names(*module),
            (std::vector<std::string>{"layers.0.feed_forward.w1.weight", "layers.0.feed_forward.w1.bias",
                                      "layers.0.feed_forward.w2.weight", "layers.0.feed_forward.w3.weight"}));
}

TEST(Module, RecordsAPlansConstraintsAsRedistributeNodes) {
  const auto module = feed_forward_config().build("feed_forward");
  const Mesh mesh({{"dp_shard", 2}, {"tp", 2}});
  constrain_modules(*module, {{}, {{"feed_forward", replicate(), shard(2)}}}, mesh);
  Graph graph;
  bind_all(graph, *module);
  const Tensor y = module->forward(graph.input({DType::F32, {2, 4, 8}}, "x"));
  const Node& last = graph.producer(y.value().id);
  ASSERT_EQ(std::string(last.op->name), "redistribute");
  EXPECT_EQ(to_string(*redistribute_attributes(last.attributes).target), "(S(0),S(2))");
}

TEST(Module, WithoutATensorParallelAxisThereAreNoConstraints) {
  const auto module = feed_forward_config().build("feed_forward");
  constrain_modules(*module, {{}, {{"feed_forward", replicate(), replicate()}}}, Mesh({{"dp_shard", 2}}));
  EXPECT_FALSE(module->constraints().input.has_value());
}

TEST(Plan, ARowThatMatchesNoModuleIsAnError) {
  const auto module = feed_forward_config().build("feed_forward");
  const Plan plan{{}, {{"attention", replicate(), replicate()}}};
  EXPECT_THROW(constrain_modules(*module, plan, Mesh({{"tp", 2}})), UserError);
}

TEST(Plan, TheFirstMatchingRowPlacesAParameter) {
  const Plan plan{{{"**.w1.weight", shard(0)}, {"**.weight", shard(1)}}, {}};
  EXPECT_TRUE(planned(plan, "a.w1.weight").placement.is_shard(0));
  EXPECT_TRUE(planned(plan, "a.w2.weight").placement.is_shard(1));
  EXPECT_TRUE(planned(plan, "a.w2.bias").placement.is_replicate());
}

TEST(Parameter, IsUsedInItsComputeDtypeAndItsGradientComesBackWider) {
  Parameter w("w", {5, 3}, ones());
  Parametrization p;
  p.storage_dims = {8, 3};
  p.compute_dims = {5, 3};
  p.compute_dtype = DType::BF16;
  w.set_parametrization(p);
  Graph graph;
  graph.bind(&w, graph.input(w.stored_type(), "w"));
  const Tensor used = w.in(graph);
  EXPECT_EQ(to_string(used.value().type()), "bf16[5,3]");
  const Node& node = graph.producer(used.value().id);
  EXPECT_EQ(redistribute_attributes(node.attributes).backward_dtype, DType::F32);
  EXPECT_FALSE(redistribute_attributes(node.attributes).keep);
}

TEST(Parameter, CannotBeStoredSmallerThanItIs) {
  Parameter w("w", {5, 3}, ones());
  Parametrization p;
  p.storage_dims = {4, 3};
  p.compute_dims = {5, 3};
  EXPECT_THROW(w.set_parametrization(p), InternalError);
}

TEST(Parameter, OfAVocabularyIsUsedLongerWhereItDoesNotDivide) {
  const auto model = EmbeddingConfig(37, 4, ones()).build("tok_embeddings");
  Parameter& w = *model->parameters()[0];
  Parametrization p;
  p.storage_dims = {40, 4};
  p.compute_dims = {38, 4};
  w.set_parametrization(p);
  Graph graph;
  graph.bind(&w, graph.input(w.stored_type(), "w"));
  EXPECT_EQ(w.in(graph).dims(), (Dims{38, 4}));
}

TEST(SelfAttention, NormsOfQueriesAndKeysAreMembersWhereTheyAreThereAndReadOneHead) {
  for (const bool normalised : {false, true}) {
    SelfAttentionConfig config;
    config.n_heads = 4;
    config.n_kv_heads = 2;
    config.head_dim = 6;
    config.wq = std::make_unique<LinearConfig>(8, 24, ones());
    config.wk = std::make_unique<LinearConfig>(8, 12, ones());
    config.wv = std::make_unique<LinearConfig>(8, 12, ones());
    config.wo = std::make_unique<LinearConfig>(24, 8, ones());
    if (normalised) config.q_norm = std::make_unique<RMSNormConfig>(6, 1e-6);
    if (normalised) config.k_norm = std::make_unique<RMSNormConfig>(6, 1e-6);
    const auto attention = config.build("attention");
    std::vector<std::string> expected = {"attention.wq.weight", "attention.wk.weight", "attention.wv.weight",
                                         "attention.wo.weight"};
    if (normalised) expected.insert(expected.end(), {"attention.q_norm.weight", "attention.k_norm.weight"});
    EXPECT_EQ(names(*attention), expected);
    Graph graph;
    bind_all(graph, *attention);
    const Tensor rows = graph.input({DType::S32, {1, 5}}, "rows");
    RotaryConfig rope;
    rope.head_dim = 6;
    const Sequence sequence{.positions_BS = rows, .segments_BS = rows, .rotations = rotations(rope, rows, DType::F32)};
    const Tensor out = attention->forward(graph.input({DType::F32, {1, 5, 8}}, "x"), sequence);
    EXPECT_EQ(out.dims(), (Dims{1, 5, 8}));
    int64_t roots = 0;
    for (NodeId n = 0; n < graph.node_count(); ++n)
      roots += std::string_view(graph.node(n).op->name) == "rsqrt" ? 1 : 0;
    EXPECT_EQ(roots, normalised ? 2 : 0);
    verify(graph);
  }
}

TEST(RMSNorm, ComputesInFloat32AndReturnsWhatItWasGiven) {
  const auto norm = RMSNormConfig(8, 1e-5).build("norm");
  Graph graph;
  bind_all(graph, *norm);
  EXPECT_EQ(norm->forward(graph.input({DType::BF16, {2, 8}}, "x")).dtype(), DType::BF16);
  DType statistics = DType::BF16;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (std::string(node.op->name) == "rsqrt") statistics = graph.type(node.results[0]).dtype;
  }
  EXPECT_EQ(statistics, DType::F32);
}

}  // namespace
}  // namespace tethys
