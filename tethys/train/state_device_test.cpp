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

}  // namespace
}  // namespace tethys
