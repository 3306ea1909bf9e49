// The modes of execution: the same steps of a trainer, whatever the programs are that they are cut into, for each
// architecture, on one device and on a mesh, with and without scan, remat and accumulation.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/temporary_folder.h"
#include "close.h"
#include "config/config.h"
#include "config/flags.h"
#include "packed_rows.h"
#include "runtime/testing.h"
#include "train/setup.h"
#include "train/step_runner.h"

namespace tethys {
namespace {

constexpr int64_t kRows = 4, kLength = 16, kVocabulary = 61;

struct Case {
  const char* name;
  std::vector<std::string> flags;

  bool scans() const { return std::find(flags.begin(), flags.end(), "--graph.scan_layers") != flags.end(); }
};

const std::vector<std::string> kSmall = {"--training.dtype",
                                         "float64",
                                         "--model.dim",
                                         "32",
                                         "--model.n_layers",
                                         "2",
                                         "--model.n_heads",
                                         "4",
                                         "--model.n_kv_heads",
                                         "2",
                                         "--model.ffn_dim",
                                         "48",
                                         "--model.vocab_size",
                                         "61",
                                         "--training.seq_len",
                                         "16",
                                         "--training.global_batch_size",
                                         "4"};

struct Trained {
  std::vector<double> losses, norms;
  std::vector<std::vector<double>> state;
  int64_t compiles_after_first = 0;
};

Trained train(const std::vector<std::string>& flags, Mode mode, bool split_offload = false, int64_t steps = 3) {
  Config config;
  apply_flags(config, kSmall);
  apply_flags(config, flags);
  if (split_offload) apply_flags(config, {"--graph.split_offload"});
  const TrainingSetup setup = set_up(config, std::nullopt);
  // Unoptimised code gives the same numbers, and eager mode's many programs are mostly those of other cases.
  static const TemporaryFolder cache;
  Executor executor(runtime_testing::client(), setup.mesh, Capabilities{},
                    {.mode = mode,
                     .cache_folder = cache.path().string(),
                     .compiler_options = {{"xla_backend_optimization_level", int64_t{0}}}});
  TrainingState state = initial_state(executor, setup, 3);
  StepRunner runner(executor, setup);
  runner.wait();
  Trained trained;
  int64_t compiles = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const PackedRows rows = packed_rows(step, kRows, kLength, kVocabulary);
    const Dims dims = {setup.shape.microbatches, setup.shape.rows, kLength};
    const auto microbatches = [&](const HostTensor& all) {
      return HostTensor({DType::S32, dims}, {all.bytes().begin(), all.bytes().end()});
    };
    Batch batch;
    batch.tokens = microbatches(rows.tokens);
    batch.labels = microbatches(rows.labels);
    batch.positions = microbatches(rows.positions);
    batch.segment_ids = microbatches(rows.segments);
    const StepOutcome outcome = runner.run(state, {step, 0.01, batch});
    trained.losses.push_back(to_host(outcome.loss).to_doubles()[0]);
    trained.norms.push_back(to_host(outcome.norm).to_doubles()[0]);
    if (step == 0) compiles = executor.counters().compiles;
  }
  trained.compiles_after_first = executor.counters().compiles - compiles;
  for (const Array& array : state.list()) trained.state.push_back(to_host(array).to_doubles());
  return trained;
}

void expect_same(const Trained& got, const Trained& expected, const std::string& what) {
  expect_close(got.losses, expected.losses, what + ", losses");
  expect_close(got.norms, expected.norms, what + ", norms");
  ASSERT_EQ(got.state.size(), expected.state.size());
  for (size_t i = 0; i < got.state.size(); ++i)
    expect_close(got.state[i], expected.state[i], fmt::format("{}, value {} of the state", what, i));
  EXPECT_EQ(got.compiles_after_first, 0) << what;
}

class EveryMode : public testing::TestWithParam<Case> {};

TEST_P(EveryMode, GivesTheSameStateAndCompilesInTheFirstStepAlone) {
  const Trained graph = train(GetParam().flags, Mode::Graph);
  for (const Mode mode : {Mode::Compile, Mode::Deferred, Mode::Eager})
    expect_same(train(GetParam().flags, mode), graph, std::string(name_of(mode)));
  if (GetParam().scans()) expect_same(train(GetParam().flags, Mode::Graph, true), graph, "split_offload");
}

TEST(Modes, InFloat32TenStepsAgreeToOneInTenThousand) {
  const std::vector<std::string> flags = {"--training.dtype", "float32", "--graph.scan_layers",
                                          "--training.local_batch_size", "4"};
  const std::vector<double> graph = train(flags, Mode::Graph, false, 10).losses;
  const auto expect_near = [&](const std::vector<double>& losses, const std::string& what) {
    ASSERT_EQ(losses.size(), graph.size());
    for (size_t i = 0; i < graph.size(); ++i) EXPECT_NEAR(losses[i], graph[i], 1e-4 * graph[i]) << what;
  };
  for (const Mode mode : {Mode::Compile, Mode::Deferred, Mode::Eager})
    expect_near(train(flags, mode, false, 10).losses, std::string(name_of(mode)));
  expect_near(train(flags, Mode::Graph, true, 10).losses, "split_offload");
  EXPECT_LT(graph.back(), graph.front());
}

const Case kCases[] = {
    {"llama3", {"--training.local_batch_size", "4"}},
    {"llama3_scan", {"--graph.scan_layers", "--training.local_batch_size", "4"}},
    {"llama3_scan_remat_accumulated",
     {"--graph.scan_layers", "--graph.remat", "full", "--training.local_batch_size", "2"}},
    {"llama3_fsdp4", {"--parallelism.data_parallel_shard_degree", "4", "--training.local_batch_size", "1"}},
    {"qwen3_scan_offload",
     {"--model.name", "qwen3", "--graph.scan_layers", "--training.local_batch_size", "4", "--graph.remat", "selective",
      "--graph.remat_save", "mlp_in", "--graph.remat_offload", "layer_input,q,k,v,attention_out"}},
    {"qwen3_fsdp2_tp2_scan_selective_accumulated",
     {"--model.name", "qwen3", "--graph.scan_layers", "--graph.remat", "selective", "--graph.remat_save", "q,mlp_in",
      "--parallelism.data_parallel_shard_degree", "2", "--parallelism.tensor_parallel_degree", "2",
      "--parallelism.enable_sequence_parallel", "--training.local_batch_size", "1", "--parallelism.gradient_reduction",
      "step"}},
    {"qwen3_moe_scan",
     {"--model.name", "qwen3_moe", "--model.n_experts", "4", "--model.experts_per_token", "2", "--model.expert_ffn_dim",
      "16", "--graph.scan_layers", "--training.local_batch_size", "4"}},
    {"qwen3_moe_ep4_prefetch_accumulated",
     {"--model.name", "qwen3_moe", "--model.n_experts", "4", "--model.experts_per_token", "2", "--model.expert_ffn_dim",
      "16", "--parallelism.data_parallel_shard_degree", "2", "--parallelism.context_parallel_degree", "2",
      "--parallelism.expert_parallel_degree", "4", "--graph.scan_layers", "--graph.prefetch", "1",
      "--training.local_batch_size", "1"}},
};
INSTANTIATE_TEST_SUITE_P(Steps, EveryMode, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tethys
