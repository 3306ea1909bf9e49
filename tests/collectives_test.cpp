// What a step sends between devices, by the program's own collectives: their number and size follow from the model and
// the degrees. No device is needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "config/config.h"
#include "config/flags.h"
#include "config/recipe.h"
#include "train/setup.h"
#include "transforms/lower.h"

namespace tethys {
namespace {

constexpr int64_t kLayers = 6;

struct Lowered {
  TrainingSetup setup;
  Program program;

  // Runs of a kind for a module, or for all; scalars apart.
  int64_t runs(const std::string& kind, const std::string& scope = "") const {
    int64_t runs = 0;
    for (const CollectiveUse& use : program.collectives) {
      if (use.kind == kind && use.type.rank() > 0 && (scope.empty() || use.scope == scope)) runs += use.runs;
    }
    return runs;
  }
  int64_t bytes(const std::string& kind) const {
    int64_t bytes = 0;
    for (const CollectiveUse& use : program.collectives) {
      if (use.kind == kind) bytes += use.bytes();
    }
    return bytes;
  }
  int64_t all() const {
    int64_t runs = 0;
    for (const CollectiveUse& use : program.collectives) runs += use.runs;
    return runs;
  }
  int64_t scalars() const {
    int64_t runs = 0;
    for (const CollectiveUse& use : program.collectives) {
      EXPECT_TRUE(use.type.rank() > 0 || use.kind == "all_reduce") << use.kind;
      if (use.type.rank() == 0) runs += use.runs;
    }
    return runs;
  }
};

Lowered lowered(const std::vector<std::string>& flags, const char* recipe = "llama3_debugmodel") {
  Config config;
  load_recipe(config, recipe, TETHYS_SOURCE_DIR "/recipes");
  apply_flags(config, flags);
  Lowered result{set_up(config, std::nullopt), {}};
  const TrainingSetup& s = result.setup;
  const RecordedStep step = record_training_step(*s.model, s.store, s.shape, s.step);
  result.program = make_program(*step.graph, s.mesh, {}, step.aliases, s.gathers);
  return result;
}

const std::vector<std::string> kFsdp8 = {"--parallelism.data_parallel_shard_degree", "8"};
const std::vector<std::string> kSequence = {"--parallelism.tensor_parallel_degree", "2",
                                            "--parallelism.enable_sequence_parallel"};

TEST(Collectives, ShardedDataParallelHoldsAnEighthOfTheState) {
  const Lowered one = lowered({}), eight = lowered(kFsdp8);
  const auto bytes = [](const Lowered& l) {
    int64_t sum = 0;
    for (size_t i = 0; i < l.program.inputs.size(); ++i) {
      const Port& port = l.program.inputs[i];
      if (l.program.aliases[i] >= 0) sum += local_type(port.type, port.placement, l.program.mesh).bytes();
    }
    return static_cast<double>(sum);
  };
  EXPECT_NEAR(bytes(eight) / bytes(one), 1.0 / 8, 0.02 / 8);
}

// Gathered once for the forward and once more for the backward, where it is let go in between; each gradient is
// reduced once. Scalars: the count of labels, the loss, the norm.
TEST(Collectives, ShardedDataParallelGathersEachUseAndScattersEachGradientOnce) {
  const Lowered step = lowered(kFsdp8);
  const auto logical = static_cast<int64_t>(step.setup.model->parameters().size());
  const int64_t in_layers = 9 * kLayers, outside = 3;
  ASSERT_EQ(logical, in_layers + outside);
  EXPECT_EQ(step.runs("all_gather"), 2 * in_layers + outside);
  EXPECT_EQ(step.runs("reduce_scatter"), logical);
  EXPECT_EQ(step.scalars(), 3);
  EXPECT_EQ(step.all(), 2 * in_layers + outside + logical + 3);
}

TEST(Collectives, WeightsThatAreKeptAreGatheredOnce) {
  std::vector<std::string> flags = kFsdp8;
  flags.insert(flags.end(), {"--parallelism.fsdp_reshard_after_forward", "never"});
  EXPECT_EQ(lowered(flags).runs("all_gather"), 9 * kLayers + 3);
  flags.insert(flags.end(), {"--graph.remat", "full"});
  EXPECT_EQ(lowered(flags).runs("all_gather"), 9 * kLayers + 3) << "under remat";
}

// Each block's parameters as one, and the embedding, the last norm and the output by themselves; the same bytes.
TEST(Collectives, AGatherByBlockBringsAllOfItsParameters) {
  for (const bool scan : {false, true}) {
    std::vector<std::string> flags = kFsdp8;
    flags.emplace_back(scan ? "--graph.scan_layers" : "--no-graph.scan_layers");
    const Lowered apart = lowered(flags);
    flags.insert(flags.end(), {"--parallelism.fsdp_gather", "block"});
    const Lowered together = lowered(flags);
    EXPECT_EQ(together.runs("all_gather"), 2 * kLayers + 3) << scan;
    EXPECT_EQ(together.runs("all_gather", "layers.*"), 2 * kLayers) << scan;
    EXPECT_EQ(together.bytes("all_gather"), apart.bytes("all_gather")) << scan;
    EXPECT_EQ(together.runs("reduce_scatter"), 9 * kLayers + 3) << scan;
  }
}

// Forward and backward each gather for one layer before their loop, and for one that there is none of at its end.
TEST(Collectives, GathersAheadAreThoseOfOneLayerMoreInEachLoop) {
  std::vector<std::string> flags = kFsdp8;
  flags.insert(flags.end(), {"--graph.scan_layers", "--graph.prefetch", "1"});
  const Lowered step = lowered(flags);
  EXPECT_EQ(step.runs("all_gather"), 2 * 9 * (kLayers + 1) + 3);
  EXPECT_EQ(step.runs("reduce_scatter"), 9 * kLayers + 3);
}

// Activations travel as they did, whatever is done with weights.
TEST(Collectives, ArrangedGathersLeaveActivationsAlone) {
  const std::vector<std::string> accumulated = {"--training.local_batch_size",
                                                "1",
                                                "--training.global_batch_size",
                                                "4",
                                                "--parallelism.data_parallel_shard_degree",
                                                "2"};
  std::vector<std::string> sequence = accumulated, context = accumulated;
  sequence.insert(sequence.end(), kSequence.begin(), kSequence.end());
  context.insert(context.end(), {"--parallelism.context_parallel_degree", "2"});
  for (const auto& mesh : {sequence, context}) {
    for (const char* remat : {"none", "full"}) {
      std::vector<std::string> flags = mesh;
      flags.insert(flags.end(), {"--graph.scan_layers", "--graph.remat", remat});
      const Lowered apart = lowered(flags);
      std::vector<std::string> ahead = flags, block = flags;
      ahead.insert(ahead.end(), {"--graph.prefetch", "1"});
      block.insert(block.end(), {"--parallelism.fsdp_gather", "block"});
      // In each of two microbatches a forward and a backward.
      EXPECT_EQ(lowered(ahead).runs("all_gather") - apart.runs("all_gather"), 2 * 2 * 9) << remat;
      EXPECT_EQ(apart.runs("all_gather") - lowered(block).runs("all_gather"), 2 * 2 * kLayers * 8) << remat;
      EXPECT_EQ(lowered(block).bytes("all_gather"), apart.bytes("all_gather")) << remat;
      for (const Lowered& other : {lowered(ahead), lowered(block)}) {
        EXPECT_EQ(other.runs("reduce_scatter"), apart.runs("reduce_scatter")) << remat;
        EXPECT_EQ(other.scalars(), apart.scalars()) << remat;
      }
      flags.insert(flags.end(), {"--no-graph.scan_layers"});
      const int64_t written_out = lowered(flags).runs("all_gather");
      flags.insert(flags.end(), {"--graph.prefetch", "1"});
      EXPECT_EQ(lowered(flags).runs("all_gather"), written_out) << remat;
    }
  }
}

// Over two microbatches weights are gathered twice as often, and gradients reduced for each, or at the end of the step.
TEST(Collectives, GradientsAreReducedByMicrobatchOrOnceAStep) {
  std::vector<std::string> flags = kFsdp8;
  flags.insert(flags.end(), {"--training.local_batch_size", "1", "--training.global_batch_size", "16"});
  for (const bool scan : {false, true}) {
    flags.emplace_back(scan ? "--graph.scan_layers" : "--no-graph.scan_layers");
    const int64_t gradients = 9 * kLayers + 3;
    EXPECT_EQ(lowered(flags).runs("reduce_scatter"), 2 * gradients) << scan;
    std::vector<std::string> once = flags;
    once.insert(once.end(), {"--parallelism.gradient_reduction", "step"});
    const Lowered step = lowered(once);
    // A stack of layers is reduced as one.
    EXPECT_EQ(step.runs("reduce_scatter"), scan ? 9 + 3 : gradients) << scan;
    EXPECT_EQ(step.runs("all_gather"), lowered(flags).runs("all_gather")) << scan;
    once.insert(once.end(),
                {"--parallelism.data_parallel_shard_degree", "1", "--parallelism.data_parallel_replicate_degree", "8"});
    EXPECT_EQ(lowered(once).runs("all_reduce"), scan ? 9 + 3 : gradients) << scan;
  }
}

// Hybrid: gradients that are shards are summed over the replicas too, each once.
TEST(Collectives, HybridShardingReducesShardsOverTheReplicas) {
  std::vector<std::string> flags = {"--parallelism.data_parallel_shard_degree", "4",
                                    "--parallelism.data_parallel_replicate_degree", "2"};
  const Lowered step = lowered(flags);
  EXPECT_EQ(step.runs("all_gather"), 2 * 9 * kLayers + 3);
  EXPECT_EQ(step.runs("reduce_scatter"), 9 * kLayers + 3);
  EXPECT_EQ(step.runs("all_reduce"), 9 * kLayers + 3);
}

// In front of attention and of feed-forward the tokens are gathered, behind them summed and cut; the backward does the
// transpose of each. The residual of a weight's gradient is what the forward gathered: nothing is gathered again.
TEST(Collectives, SequenceParallelGathersAndScattersTwiceInABlock) {
  const Lowered step = lowered(kSequence);
  for (const char* module : {"layers.*.attention", "layers.*.feed_forward"}) {
    EXPECT_EQ(step.runs("all_gather", module), 2 * kLayers) << module;
    EXPECT_EQ(step.runs("reduce_scatter", module), 2 * kLayers) << module;
  }
  // The embedding's sum is cut, the output's input gathered; the backward does the transposes.
  EXPECT_EQ(step.runs("reduce_scatter", "tok_embeddings"), 1);
  EXPECT_EQ(step.runs("all_gather", "tok_embeddings"), 1);
  EXPECT_EQ(step.runs("all_gather", "output"), 1);
  EXPECT_EQ(step.runs("reduce_scatter", "output"), 1);
  // The loss: the maximum and the sum over the words of other ranks.
  EXPECT_EQ(step.runs("all_reduce", "output"), 2);
  // Norms saw a part of the tokens: the gradients of their weights are sums.
  for (const char* norm : {"layers.*.attention_norm", "layers.*.ffn_norm"})
    EXPECT_EQ(step.runs("all_reduce", norm), kLayers) << norm;
  EXPECT_EQ(step.runs("all_reduce", "norm"), 1);
  // The loss and the norm.
  EXPECT_EQ(step.scalars(), 2);
  EXPECT_EQ(step.all(), 8 * kLayers + 4 + 2 + 2 * kLayers + 1 + 2);
}

TEST(Collectives, TensorParallelSumsTwiceInABlockAndTwiceInItsBackward) {
  const Lowered step = lowered({"--parallelism.tensor_parallel_degree", "2"});
  EXPECT_EQ(step.runs("all_reduce", "layers.*.attention"), 2 * kLayers);
  EXPECT_EQ(step.runs("all_reduce", "layers.*.feed_forward"), 2 * kLayers);
  EXPECT_EQ(step.runs("all_gather"), 0);
}

// Keys and values are gathered and their gradients cut, and no activation else travels.
TEST(Collectives, ContextParallelSendsKeysAndValues) {
  const Lowered step =
      lowered({"--parallelism.context_parallel_degree", "2", "--parallelism.fsdp_reshard_after_forward", "never"});
  int64_t activations = 0;
  for (const CollectiveUse& use : step.program.collectives) {
    if (use.type.rank() != 4) continue;
    EXPECT_EQ(use.scope, "layers.*.attention");
    activations += use.runs;
  }
  EXPECT_EQ(activations, (2 + 2 + 2) * kLayers) << "gathered for the forward and the backward, gradients scattered";
}

constexpr const char* kMoE = "qwen3_debugmodel_moe";
constexpr int64_t kMoELayers = 8;
constexpr const char* kExperts = "layers.*.moe.experts";

TEST(Collectives, ShardedExpertsAreGatheredForEachUseAndTheirGradientsScatteredOnce) {
  const Lowered step = lowered({"--parallelism.data_parallel_shard_degree", "4"}, kMoE);
  EXPECT_EQ(step.runs("all_gather", kExperts), 2 * 3 * kMoELayers);
  EXPECT_EQ(step.runs("reduce_scatter"), static_cast<int64_t>(step.setup.model->parameters().size()) - kMoELayers);
  EXPECT_EQ(step.runs("all_reduce", kExperts), 0);
}

// Rows go to their experts and back in the forward, again in the backward, which computes it anew, and so do their
// cotangents. With the rows of the forward, and of the backward, goes the number of each row's expert.
TEST(Collectives, ExpertsOnOtherDevicesAreSentRowsAndNothingElse) {
  const Lowered step =
      lowered({"--parallelism.data_parallel_shard_degree", "4", "--parallelism.expert_parallel_degree", "4"}, kMoE);
  EXPECT_EQ(step.runs("all_to_all"), step.runs("all_to_all", kExperts));
  EXPECT_EQ(step.runs("all_to_all"), (2 + 2 + 2 + 2) * kMoELayers);
  for (const char* kind : {"all_gather", "reduce_scatter", "all_reduce"})
    EXPECT_EQ(step.runs(kind, kExperts), 0) << kind;
}

// Tokens, ids and weights in the forward and in the backward, and the result's cotangent; the sums are the result, and
// the cotangents of tokens and weights.
TEST(Collectives, LocalExpertsGatherTokensAndScatterSums) {
  const Lowered step = lowered({"--parallelism.data_parallel_shard_degree", "4", "--parallelism.expert_parallel_degree",
                                "4", "--parallelism.expert_parallel_dispatcher", "local"},
                               kMoE);
  EXPECT_EQ(step.runs("all_to_all"), 0);
  EXPECT_EQ(step.runs("all_gather", kExperts), (3 + 3 + 1) * kMoELayers);
  EXPECT_EQ(step.runs("reduce_scatter", kExperts), 2 * kMoELayers);
  EXPECT_EQ(step.runs("reduce_scatter", "layers.*"), kMoELayers);
}

TEST(Collectives, OfOneDeviceAreNone) { EXPECT_EQ(lowered({}).all(), 0); }

// What is counted is what the text has.
TEST(Collectives, StandInTheText) {
  const Program program = lowered(kSequence).program;
  int64_t sites = 0, found = 0;
  for (const CollectiveUse& use : program.collectives) sites += use.sites;
  for (const char* op : {"stablehlo.all_reduce", "stablehlo.all_gather", "stablehlo.reduce_scatter"}) {
    const std::string quoted = "\"" + std::string(op) + "\"";
    for (size_t at = program.text.find(quoted); at != std::string::npos; at = program.text.find(quoted, at + 1))
      ++found;
  }
  EXPECT_EQ(sites, found);
}

}  // namespace
}  // namespace tethys
