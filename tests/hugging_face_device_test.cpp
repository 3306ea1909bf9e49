// Hugging Face folders both ways, against what `transformers` saves and computes:
// tests/golden/hugging_face/generate.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/temporary_folder.h"
#include "checkpoint/hugging_face.h"
#include "config/recipe.h"
#include "llama3_golden.h"
#include "models/registry.h"
#include "train/hugging_face.h"
#include "train/hugging_face_config.h"
#include "train/run_folder.h"
#include "train/state.h"

namespace tethys::training_testing {
namespace {

using nlohmann::json;

const json& golden() { return golden_of("hugging_face"); }

Config config_of_case(const json& golden_case) { return config_of(model_of(golden_case)); }

struct Weight {
  std::string name;
  HostTensor value;
};

std::vector<Weight> formula_weights(const Config& config) {
  std::vector<Weight> weights;
  architecture_of(config).configure(config)->build()->for_each_parameter([&](Parameter& p) {
    weights.push_back(
        {p.name(), llama3_formula::weight(p.name(), {DType::F32, p.dims()}, config.get_bool("model.tie_embeddings"))});
  });
  return weights;
}

void save_run(const Path& folder, const std::vector<Weight>& weights) {
  std::vector<PieceSource> pieces;
  for (const Weight& w : weights) {
    pieces.push_back({w.name, w.value.type(), whole(w.value.type().dims), {}, [&w] { return w.value.bytes(); }});
  }
  CheckpointStore(folder / "checkpoint").save({}, pieces, 0);
}

// As transformers saves it: its config.json, its names.
void save_as_transformers(const Path& folder, const json& golden_case, const std::vector<Weight>& weights) {
  const HuggingFaceModel& model = architecture_of(config_of_case(golden_case)).hugging_face();
  std::vector<SafetensorsSource> sources;
  for (const Weight& w : weights) {
    if (w.name.ends_with("expert_bias")) continue;
    const HuggingFaceTensors theirs = hugging_face_tensors(model, w.name, w.value.type().dims);
    const size_t size = w.value.bytes().size() / theirs.names.size();
    for (size_t i = 0; i < theirs.names.size(); ++i) {
      EXPECT_EQ(golden_case.at("shapes").at(theirs.names[i]).get<Dims>(), theirs.dims) << theirs.names[i];
      const std::span<const std::byte> part = w.value.bytes().subspan(i * size, size);
      sources.push_back({theirs.names[i], {DType::F32, theirs.dims}, {}, [part] { return part; }});
    }
  }
  EXPECT_EQ(sources.size(), golden_case.at("shapes").size());
  write_hugging_face(folder, sources, 1 << 30);
  write_file(folder / "config.json", golden_case.at("config").dump());
}

// [tokens, vocab]
std::vector<double> logits_of(Config config, Checkpoint checkpoint) {
  config.set("training.local_batch_size", int64_t{1}, {Origin::Source::Flag, "test"});
  const std::vector<int32_t> tokens = golden().at("tokens");
  const TrainingSetup setup = set_up(config, 1);
  Executor executor(cpu_client(1), setup.mesh, {});
  std::vector<Array> arguments = load_parameters(checkpoint, executor, setup);
  Graph graph;
  std::vector<Value> parameters;
  for (const StoredParameter& p : setup.store) parameters.push_back(graph.input(p.type, p.name));
  bind_store(graph, setup.store, parameters);
  const Dims dims{1, static_cast<int64_t>(tokens.size())};
  const TensorType rows{DType::S32, dims};
  const TokenRows inputs{graph.input(rows, "tokens"), graph.input(rows, "positions"), graph.input(rows, "segments")};
  graph.set_outputs({setup.model->logits(inputs).value()});
  HostTensor positions(rows);
  for (size_t i = 0; i < tokens.size(); ++i) positions.as<int32_t>()[i] = static_cast<int32_t>(i);
  for (const HostTensor& tensor : {HostTensor::of<int32_t>(dims, tokens), positions, HostTensor(rows)}) {
    arguments.push_back(to_device(executor.devices(), tensor, {}));
  }
  return to_host(executor.call(graph, arguments)[0]).to_doubles();
}

void expect_logits(const std::vector<double>& ours, const json& golden_case) {
  const json& theirs = golden_case.at("logits");
  const size_t vocab = golden_case.at("model").at("vocab");
  ASSERT_EQ(ours.size(), theirs.size() * vocab);
  double worst = 0;
  for (size_t i = 0; i < theirs.size(); ++i) {
    for (size_t id = 0; id < theirs[i].size(); ++id) {
      worst = std::max(worst, std::abs(ours[i * vocab + id] - theirs[i][id].get<double>()));
    }
  }
  EXPECT_LE(worst, 1e-4);
  testing::Test::RecordProperty("largest_difference", fmt::format("{:.2e}", worst));
}

class HuggingFaceFolder : public testing::TestWithParam<const char*> {
 protected:
  HuggingFaceFolder() : case_(golden().at("cases").at(GetParam())), config_(config_of_case(case_)) {}
  const json& case_;
  Config config_;
  TemporaryFolder folder_;
};

TEST_P(HuggingFaceFolder, OfTransformersBecomesARunThatComputesTheSameLogits) {
  save_as_transformers(folder_.path(), case_, formula_weights(config_));
  const Path run = folder_ / "run";
  Config imported;
  import_hugging_face(folder_.path(), imported, run, std::nullopt);
  Config config;
  load_recipe(config, (run / "config.toml").string(), {});
  expect_logits(logits_of(config, open_checkpoint_of(run)), case_);
}

TEST_P(HuggingFaceFolder, OfTethysHasTheNamesShapesAndConfigOfTransformersAndComputesTheSameLogits) {
  save_run(folder_ / "run", formula_weights(config_));
  // For a look with transformers itself: generate.py --check CASE FOLDER.
  const char* kept = std::getenv("TETHYS_EXPORT_FOLDER");
  const Path output = kept != nullptr ? Path(kept) / GetParam() : folder_ / "hf";
  Checkpoint checkpoint(find_checkpoint(folder_ / "run"));
  export_hugging_face(checkpoint, config_, output, {.max_shard_size = 8000});
  json shapes;
  for (const auto& [name, tensor] : read_hugging_face(output).tensors) shapes[name] = tensor.type.dims;
  EXPECT_EQ(shapes, case_.at("shapes"));

  json theirs = case_.at("config");
  theirs["rope_scaling"] = theirs.at("rope_parameters");
  theirs["rope_theta"] = theirs["rope_scaling"]["rope_theta"];
  theirs["rope_scaling"].erase("rope_theta");
  if (theirs["rope_scaling"]["rope_type"] == "default") theirs["rope_scaling"] = nullptr;
  theirs["torch_dtype"] = theirs["dtype"];
  theirs["use_cache"] = true;  // generate.py has no use for one
  theirs["num_experts"] = theirs.value("num_local_experts", 0);
  const json ours = json::parse(read_file(output / "config.json"));
  for (const auto& [key, value] : ours.items()) EXPECT_EQ(value, theirs.at(key)) << key;

  Config config;
  load_hugging_face_config(config, output);
  expect_logits(logits_of(config, open_hugging_face(output, config)), case_);
}

INSTANTIATE_TEST_SUITE_P(Llama, HuggingFaceFolder,
                         testing::Values("tied", "untied", "qwen3_tied", "qwen3_untied", "qwen3_moe_tied",
                                         "qwen3_moe_untied"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tethys::training_testing
