#include "train/step.h"

#include <gtest/gtest.h>

#include "models/llama3/config.h"
#include "models/llama3/plan.h"
#include "train/setup.h"

namespace tethys {
namespace {

struct Recorded {
  std::unique_ptr<LanguageModel> model;
  std::vector<StoredParameter> store;
  RecordedStep step;
};

Recorded record(const BatchShape& shape, const StoreOptions& options, bool output_gradients = false) {
  Config config;
  Recorded r{llama_config(config)->build(), {}, {}};
  r.store = make_store(*r.model, llama_plan({}), options);
  r.model->set_layer_options({options.stack_layers, false});
  StepOptions step;
  step.mesh = options.mesh;
  step.output_gradients = output_gradients;
  r.step = record_training_step(*r.model, r.store, shape, step);
  return r;
}

TEST(TrainingStep, StateComesOutInTheOrderAndTypesInWhichItWentInAndIsDonated) {
  StoreOptions options;
  options.stack_layers = true;
  const Recorded r = record({2, 4, 8}, options, true);
  const Graph& graph = *r.step.graph;
  verify(graph);
  const size_t state = 3 * r.store.size() + 1;
  ASSERT_EQ(r.step.aliases.size(), graph.inputs().size());
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    EXPECT_EQ(r.step.aliases[i], i < state ? static_cast<int64_t>(i) : -1) << graph.input_name(i);
  }
  for (size_t i = 0; i < state; ++i) {
    EXPECT_EQ(graph.type(graph.inputs()[i]), graph.type(graph.outputs()[i])) << graph.input_name(i);
  }
  EXPECT_EQ(graph.outputs().size(), state + 2 + r.store.size());
  EXPECT_EQ(to_string(graph.type(graph.outputs()[state])), "f32[]");
}

// With and without layers in a region, and with microbatches, which are one too.
TEST(TrainingStep, ANameToSaveThatNoActivationHasIsRefusedWithThoseThatThereAre) {
  for (const bool scan : {false, true}) {
    Config config;
    config.set("graph.scan_layers", scan, {});
    config.set("training.global_batch_size", int64_t{scan ? 16 : -1}, {});
    config.set("graph.remat", std::string("selective"), {});
    const auto complaint = [&](const std::vector<std::string>& names) -> std::string {
      config.set("graph.remat_save", names, {});
      const TrainingSetup setup = set_up(config, std::nullopt);
      try {
        record_training_step(*setup.model, setup.store, setup.shape, setup.step);
      } catch (const UserError& error) {
        return error.what();
      }
      return "no error";
    };
    EXPECT_EQ(
        complaint({"q", "attention_uot"}),
        "graph.remat_save: no activation of the model is named \"attention_uot\"; the nearest is attention_out, and "
        "there are attention_out, k, layer_input, mlp_in, mlp_out, q, v");
    EXPECT_EQ(complaint({"q", "attention_out"}), "no error");
  }
}

TEST(TrainingStep, NamesAndPlacesItsInputs) {
  StoreOptions options;
  options.mesh = Mesh({{"dp_replicate", 2}, {"dp_shard", 2}});
  const Recorded r = record({3, 8, 16}, options);
  const Graph& graph = *r.step.graph;
  std::map<std::string, std::string> placed;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueInfo& info = graph.info(graph.inputs()[i]);
    placed[graph.input_name(i)] = to_string(info.type) + to_string(*info.placement);
  }
  EXPECT_EQ(placed["layers.3.attention.wq.weight"], "f32[256,256](R,S(0))");
  EXPECT_EQ(placed["m.layers.3.attention.wq.weight"], "f32[256,256](R,S(0))");
  EXPECT_EQ(placed["v.norm.weight"], "f32[256](R,S(0))");
  EXPECT_EQ(placed["ok"], "bool[](R,R)");
  EXPECT_EQ(placed["step"], "s32[](R,R)");
  EXPECT_EQ(placed["learning_rate"], "f32[](R,R)");
  EXPECT_EQ(placed["tokens"], "s32[3,8,16](S(1),S(1))");
}

TEST(TrainingStep, MicrobatchesAreOneLoop) {
  const auto nodes = [](int64_t microbatches) {
    const Recorded r = record({microbatches, 2, 8}, {});
    return r.step.graph->node_count();
  };
  EXPECT_EQ(nodes(2), nodes(16));
  EXPECT_LT(nodes(2), nodes(1));  // the model is in the loop's region
}

TEST(TrainingStep, Float64IsFloat64Throughout) {
  StoreOptions options;
  options.storage_dtype = options.compute_dtype = options.gradient_dtype = DType::F64;
  const Recorded r = record({1, 2, 8}, options);
  const Graph& graph = *r.step.graph;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const DType dtype = graph.type(v).dtype;
    EXPECT_TRUE(!is_floating(dtype) || dtype == DType::F64) << to_string(graph.type(v)) << " value " << v;
  }
}

}  // namespace
}  // namespace tethys
