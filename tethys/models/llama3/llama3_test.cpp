#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "models/llama3/config.h"
#include "models/llama3/hf.h"
#include "models/llama3/plan.h"
#include "models/testing.h"
#include "nn/parameter_store.h"

namespace tethys {
namespace {

using models_testing::built;
using models_testing::recipe;
using models_testing::stored_on;

Config small(bool tied) { return models_testing::small("llama3_debugmodel", tied, {{"ffn_dim", 48}}); }

Tensor rows_input(Graph& graph, const char* name) { return graph.input({DType::S32, {3, 5}}, name); }

// Inputs for all that is stored, bound.
void bind_store(Graph& graph, const std::vector<StoredParameter>& store) {
  std::vector<Value> values;
  for (const StoredParameter& p : store) values.push_back(graph.input(p.type, p.name, p.placement));
  bind_store(graph, store, values);
}

TEST(Llama, EveryFlavourHasThePublishedNumberOfParameters) {
  const std::vector<std::pair<std::string, int64_t>> flavours = {
      {"llama3_debugmodel", 6'163'712}, {"llama3_1b", 1'235'814'400},   {"llama3_3b", 3'212'749'824},
      {"llama3_8b", 8'030'261'248},     {"llama3_70b", 70'553'706'496}, {"llama3_405b", 405'853'388'800}};
  for (const auto& [name, expected] : flavours) {
    int64_t count = 0;
    built(recipe(name))->for_each_parameter([&](Parameter& parameter) { count += parameter.elements(); });
    EXPECT_EQ(count, expected) << name;
  }
}

TEST(Llama, InitialValuesFollowTorchtitansRule) {
  const auto model = built(recipe("llama3_8b"));
  std::map<std::string, std::string> initial;
  model->for_each_parameter([&](Parameter& p) { initial[p.name()] = to_string(p.initial()); });
  EXPECT_EQ(initial["tok_embeddings.weight"], "normal std 1");
  EXPECT_EQ(initial["layers.7.attention.wq.weight"], "truncated normal std 0.02 cut 2");
  EXPECT_EQ(initial["layers.7.feed_forward.w1.weight"], "truncated normal std 0.02 cut 2");
  EXPECT_EQ(initial["layers.7.attention.wo.weight"], "truncated normal std 0.005 cut 2");  // 0.02 / √16
  EXPECT_EQ(initial["layers.7.feed_forward.w3.weight"], "truncated normal std 0.005 cut 2");
  EXPECT_EQ(initial["output.weight"], "truncated normal std 0.015625 cut 0.046875");  // 1/64
  EXPECT_EQ(initial["layers.0.attention_norm.weight"], "ones");
}

TEST(Llama, ATiedModelHasNoOutputWeightAndItsEmbeddingStartsAsOne) {
  const auto model = built(recipe("llama3_1b"));
  for (Parameter* p : model->parameters()) EXPECT_NE(p->name(), "output.weight");
  EXPECT_EQ(model->parameters()[0]->name(), "tok_embeddings.weight");
  EXPECT_EQ(model->parameters()[0]->initial().kind, InitialValue::Kind::TruncatedNormal);
}

TEST(Llama, TheTreeNamesWhatAnOverrideWouldMatch) {
  const auto tree = llama_config(recipe("llama3_8b"));
  EXPECT_EQ(match_nodes(*tree, "layers.*.attention.wq").size(), 32u);
  EXPECT_EQ(match_nodes(*tree, "output").at(0).node->type_name(), "ProjectionLoss");
}

TEST(Llama, RecordsALossAndLogits) {
  for (bool tied : {false, true}) {
    const auto model = built(small(tied));
    Graph graph;
    bind_store(graph, make_store(*model, {}, {}));
    const TokenRows rows{rows_input(graph, "tokens"), rows_input(graph, "positions"), rows_input(graph, "segments")};
    EXPECT_EQ(to_string(model->loss_sum(rows, rows_input(graph, "labels")).value().type()), "f32[]");
    EXPECT_EQ(to_string(model->logits(rows).value().type()), "f32[3,5,103]");
    verify(graph);
  }
}

TEST(Llama, ComputesInTheComputeDtypeAndItsLossInFloat32) {
  const auto model = built(small(false));
  StoreOptions options;
  options.compute_dtype = DType::BF16;
  Graph graph;
  bind_store(graph, make_store(*model, {}, options));
  const TokenRows rows{rows_input(graph, "tokens"), rows_input(graph, "positions"), rows_input(graph, "segments")};
  const Tensor loss = model->loss_sum(rows, rows_input(graph, "labels"));
  EXPECT_EQ(loss.dtype(), DType::F32);
  std::set<std::string> tags;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const ValueInfo& info = graph.info(v);
    if (info.tag.empty()) continue;
    tags.insert(info.tag);
    EXPECT_TRUE(info.type.dtype == DType::BF16 || info.type.rank() == 3) << info.tag;  // all but the log-sum-exp
  }
  EXPECT_EQ(tags, (std::set<std::string>{"layer_input", "q", "k", "v", "attention_out", "mlp_in", "mlp_out"}));
}

int64_t count_nodes(const Graph& graph, std::string_view op) {
  int64_t count = 0;
  for (NodeId n = 0; n < graph.node_count(); ++n) count += graph.node(n).op->name == op ? 1 : 0;
  return count;
}

TEST(Llama, LayersAreWrittenOutOrCheckpointedOrScanned) {
  for (const LayerOptions options : {LayerOptions{}, LayerOptions{false, true}, LayerOptions{true, true}}) {
    const auto model = built(small(false));
    model->set_layer_options(options);
    StoreOptions stored;
    stored.stack_layers = options.scan;
    Graph graph;
    bind_store(graph, make_store(*model, {}, stored));
    const TokenRows rows{rows_input(graph, "tokens"), rows_input(graph, "positions"), rows_input(graph, "segments")};
    model->loss_sum(rows, rows_input(graph, "labels"));
    verify(graph);
    EXPECT_EQ(count_nodes(graph, "scan"), options.scan ? 1 : 0);
    EXPECT_EQ(count_nodes(graph, "checkpoint"), options.checkpoint && !options.scan ? 2 : 0);
    EXPECT_EQ(count_nodes(graph, "kernel"), options.scan || options.checkpoint ? 1 : 3);
  }
}

TEST(Llama, ErrorsNameTheModule) {
  const auto model = built(small(false));
  Graph graph;
  const auto store = make_store(*model, {}, {});
  for (const StoredParameter& p : store) {
    if (p.name != "layers.1.feed_forward.w2.weight") graph.bind(p.key(), graph.input(p.type, p.name));
  }
  const TokenRows rows{rows_input(graph, "tokens"), rows_input(graph, "positions"), rows_input(graph, "segments")};
  try {
    model->logits(rows);
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_STREQ(e.what(), "no value stands for parameter layers.1.feed_forward.w2.weight in this graph");
  }
}

TEST(Llama, NodesAreRecordedUnderTheirModule) {
  const auto model = built(small(false));
  Graph graph;
  bind_store(graph, make_store(*model, {}, {}));
  model->logits({rows_input(graph, "tokens"), rows_input(graph, "positions"), rows_input(graph, "segments")});
  std::set<std::string> scopes;
  for (NodeId n = 0; n < graph.node_count(); ++n) scopes.insert(graph.node(n).scope);
  EXPECT_TRUE(scopes.contains("layers.1.attention.wq"));
  EXPECT_TRUE(scopes.contains("output"));
}

TEST(Llama, PlanOnAMeshOfDataAndTensorParallelRanks) {
  EXPECT_EQ(stored_on(Mesh({{"dp_shard", 2}, {"tp", 2}}), small(false)),
            "tok_embeddings.weight: f32[104,32] (S(1),S(0))\n"
            "layers.*.attention_norm.weight: f32[2,32] (S(1),R)\n"
            "layers.*.attention.wq.weight: f32[2,32,32] (S(2),S(1))\n"
            "layers.*.attention.wk.weight: f32[2,16,32] (S(2),S(1))\n"
            "layers.*.attention.wv.weight: f32[2,16,32] (S(2),S(1))\n"
            "layers.*.attention.wo.weight: f32[2,32,32] (S(1),S(2))\n"
            "layers.*.ffn_norm.weight: f32[2,32] (S(1),R)\n"
            "layers.*.feed_forward.w1.weight: f32[2,48,32] (S(2),S(1))\n"
            "layers.*.feed_forward.w2.weight: f32[2,32,48] (S(1),S(2))\n"
            "layers.*.feed_forward.w3.weight: f32[2,48,32] (S(2),S(1))\n"
            "norm.weight: f32[32] (S(0),R)\n"
            "output.weight: f32[104,32] (S(1),S(0))\n");
}

TEST(Llama, ADegreeThatDoesNotDivideNamesTheParameterAndTheSize) {
  const auto model = built(small(false));
  StoreOptions options;
  options.mesh = Mesh({{"tp", 5}});
  try {
    make_store(*model, llama_plan({}), options);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(),
                 "layers.0.attention.wq.weight [32,32]: dimension 0 of size 32 does not divide over "
                 "parallelism.tensor_parallel_degree = 5; a degree that divides 32 would work");
  }
}

std::string name_of(const std::string& parameter) {
  const HuggingFaceTensors there = hugging_face_tensors(llama_hugging_face(), parameter, {8, 4});
  EXPECT_EQ(there.dims, (Dims{8, 4}));
  EXPECT_EQ(there.names.size(), 1U);
  return there.names.at(0);
}

TEST(Llama, HuggingFaceNames) {
  EXPECT_EQ(name_of("layers.17.feed_forward.w3.weight"), "model.layers.17.mlp.up_proj.weight");
  EXPECT_EQ(name_of("tok_embeddings.weight"), "model.embed_tokens.weight");
  EXPECT_EQ(name_of("layers.0.ffn_norm.weight"), "model.layers.0.post_attention_layernorm.weight");
  EXPECT_THROW(name_of("layers.0.attention.wx.weight"), InternalError);
  std::set<std::string> names;
  const auto model = built(small(false));
  for (Parameter* p : model->parameters()) names.insert(name_of(p->name()));
  EXPECT_EQ(names.size(), model->parameters().size());
}

TEST(Registry, AnUnknownArchitectureIsAnErrorThatNamesTheNearest) {
  Config config;
  config.set("model.name", std::string("llama"), {Origin::Source::Flag, "--model.name"});
  try {
    architecture_of(config);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), testing::StartsWith("model.name = \"llama\" (--model.name) is no architecture of Tethys; the "
                                              "nearest is llama3, and all are llama3"));
  }
}

}  // namespace
}  // namespace tethys
