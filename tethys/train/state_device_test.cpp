#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "config/config.h"
#include "config/flags.h"
#include "runtime/testing.h"
#include "train/state.h"

namespace tethys {
namespace {

// A vocabulary and a width that do not divide by four, so that storage is padded.
Config config_of(const std::vector<std::string>& flags) {
  Config config;
  std::vector<std::string> all = {"--model.dim",        "20", "--model.n_layers", "3",  "--model.n_heads",    "4",
                                  "--model.n_kv_heads", "2",  "--model.ffn_dim",  "28", "--model.vocab_size", "101"};
  all.insert(all.end(), flags.begin(), flags.end());
  apply_flags(config, all);
  return config;
}

struct Trained {
  explicit Trained(const std::vector<std::string>& flags)
      : config(config_of(flags)),
        setup(set_up(config, std::nullopt)),
        executor(runtime_testing::client(), setup.mesh, Capabilities{"cpu", {}}) {}

  Config config;
  TrainingSetup setup;
  Executor executor;
};

std::string saved(const Trained& trained, const TrainingState& state, const Path& folder) {
  const CheckpointStore store(folder);
  store.save({.step = 1, .fingerprint = "", .seed = 0, .data_position = 0}, pieces_of(state, trained.setup), 0);
  return read_file(store.path_of(1) / "manifest.json");
}

const std::vector<std::string> kFsdp = {"--parallelism.data_parallel_shard_degree", "4", "--graph.scan_layers"};
const std::vector<std::string> kFsdpTp = {"--parallelism.data_parallel_shard_degree", "2",
                                          "--parallelism.tensor_parallel_degree", "2", "--graph.scan_layers"};
const std::vector<std::string> kHsdp = {"--parallelism.data_parallel_shard_degree", "2",
                                        "--parallelism.data_parallel_replicate_degree", "2"};

class StateOnMeshes : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(StateOnMeshes, GoesThroughACheckpointToOneDeviceAndBackWithoutLosingABit) {
  TemporaryFolder folder;
  Trained mesh(GetParam()), alone({});
  const std::string first = saved(mesh, initial_state(mesh.executor, mesh.setup, 3), folder / "mesh");
  Checkpoint from_mesh(folder / "mesh/step-00000001");
  saved(alone, load_state(from_mesh, alone.executor, alone.setup), folder / "alone");
  Checkpoint from_one(folder / "alone/step-00000001");
  ASSERT_EQ(from_one.manifest().tensors.size(), 3 * (3 + 9 * 3u));  // parameters and two moments
  for (const auto& [name, tensor] : from_one.manifest().tensors) EXPECT_EQ(from_one.read(name), from_mesh.read(name));
  EXPECT_EQ(saved(mesh, load_state(from_one, mesh.executor, mesh.setup), folder / "back"), first);
}

INSTANTIATE_TEST_SUITE_P(Meshes, StateOnMeshes, testing::Values(kFsdp, kFsdpTp, kHsdp));

TEST(State, WeightsAloneComeWithoutMomentum) {
  TemporaryFolder folder;
  Trained trained({});
  TrainingState state = initial_state(trained.executor, trained.setup, 3);
  state.m = state.v = state.parameters;  // anything that is not zero
  saved(trained, state, folder.path());
  Checkpoint checkpoint(folder / "step-00000001");
  const TrainingState loaded = load_weights(checkpoint, trained.executor, trained.setup);
  EXPECT_EQ(to_host(loaded.parameters[0]), to_host(state.parameters[0]));
  EXPECT_EQ(to_host(loaded.m[0]), HostTensor(loaded.m[0].type()));
  EXPECT_EQ(to_host(loaded.v[0]), HostTensor(loaded.v[0].type()));
}

TEST(State, ACheckpointOfAnotherModelIsAnErrorThatNamesTheTensor) {
  TemporaryFolder folder;
  Trained trained({}), wider({"--model.ffn_dim", "32"}), deeper({"--model.n_layers", "4"});
  saved(trained, initial_state(trained.executor, trained.setup, 3), folder.path());
  Checkpoint checkpoint(folder / "step-00000001");
  const auto message = [&](Trained& other) {
    try {
      load_state(checkpoint, other.executor, other.setup);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(wider).find("layers.0.feed_forward.w1.weight: expected f32[32,20], the checkpoint has f32[28,20]"),
            std::string::npos)
      << message(wider);
  EXPECT_NE(message(deeper).find("the checkpoint has no such tensor"), std::string::npos) << message(deeper);
  // A model that is a part of the saved one loads no part of it.
  Trained shallower({"--model.n_layers", "1"}), tied({"--model.tie_embeddings"});
  EXPECT_NE(message(shallower).find("expected no such tensor"), std::string::npos) << message(shallower);
  EXPECT_NE(message(tied).find("output.weight: expected no such tensor"), std::string::npos) << message(tied);
}

// A checkpoint of weights, of which the biases of experts are all 0.5, or not there.
void save_weights(Trained& trained, bool with_bias, const Path& folder) {
  const TrainingState state = initial_state(trained.executor, trained.setup, 3);
  std::vector<PieceSource> pieces = weight_pieces_of(state, trained.setup);
  const auto is_bias = [](const PieceSource& piece) { return piece.name.ends_with("expert_bias"); };
  if (!with_bias) std::erase_if(pieces, is_bias);
  for (PieceSource& piece : pieces) {
    if (!is_bias(piece)) continue;
    piece.read = [](std::span<std::byte> out) {
      const HostTensor half = HostTensor::of<float>({4}, {0.5, 0.5, 0.5, 0.5});
      std::copy(half.bytes().begin(), half.bytes().end(), out.begin());
    };
  }
  CheckpointStore(folder).save({}, pieces, 0);
}

const std::vector<std::string> kExperts = {
    "--model.name",           "qwen3_moe", "--model.n_experts", "4", "--model.experts_per_token", "2",
    "--model.expert_ffn_dim", "12"};

class StateOfExperts : public testing::Test {
 protected:
  StateOfExperts() : trained_(kExperts) {
    save_weights(trained_, true, folder_ / "with");
    save_weights(trained_, false, folder_ / "without");
  }
  // [L, E], after each load that takes weights alone.
  std::vector<std::vector<double>> biases_from(const char* folder) {
    Checkpoint checkpoint(folder_ / folder / "step-00000000");
    const auto bias = [&](const std::vector<Array>& parameters) {
      std::vector<double> values;
      for (size_t i = 0; i < parameters.size(); ++i) {
        if (trained_.setup.store[i].trained()) continue;
        for (const double value : to_host(parameters[i]).to_doubles()) values.push_back(value);
      }
      return values;
    };
    return {bias(load_parameters(checkpoint, trained_.executor, trained_.setup)),
            bias(load_weights(checkpoint, trained_.executor, trained_.setup).parameters),
            bias(load_weights(checkpoint, trained_.executor, trained_.setup, {"output.weight"}).parameters)};
  }
  TemporaryFolder folder_;
  Trained trained_;
};

TEST_F(StateOfExperts, WeightsMayBringTheirBiasAndOthersBeginItWithZeros) {
  const std::vector<double> half(3 * 4, 0.5), zeros(3 * 4, 0);
  EXPECT_EQ(biases_from("with"), std::vector(3, half));
  EXPECT_EQ(biases_from("without"), std::vector(3, zeros));
}

TEST_F(StateOfExperts, AStateIsNotWholeWithoutTheBias) {
  Checkpoint checkpoint(folder_ / "without/step-00000000");
  try {
    load_state(checkpoint, trained_.executor, trained_.setup);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("layers.0.moe.expert_bias: expected f32[4], the checkpoint has no such"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tethys
