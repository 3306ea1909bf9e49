#include "train/degrees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/config.h"
#include "config/flags.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Config config_of(const std::vector<std::string>& flags) {
  Config config;
  apply_flags(config, flags);
  return config;
}

const std::string kReplicate = "--parallelism.data_parallel_replicate_degree";
const std::string kShard = "--parallelism.data_parallel_shard_degree";
const std::string kTensor = "--parallelism.tensor_parallel_degree";
const std::string kExpert = "--parallelism.expert_parallel_degree";

template <typename Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Degrees, ShardingTakesTheDevicesThatAreLeft) {
  EXPECT_EQ(degrees_of(config_of({kReplicate, "2", kTensor, "2"}), 16), (Degrees{2, 4, 1, 2}));
  EXPECT_EQ(degrees_of(config_of({}), 4), (Degrees{.shard = 4}));
}

// Experts that take all of tp have their hidden units whole.
TEST(Degrees, HiddenUnitsOfExpertsAreSharedByWhatExpertsLeave) {
  const std::vector<std::string> flags = {
      "--model.n_experts", "8", "--model.expert_ffn_dim", "6", "--model.n_heads", "16", kTensor, "4"};
  EXPECT_THAT(message_of([&] { degrees_of(config_of(flags), std::nullopt); }),
              AllOf(HasSubstr("model.expert_ffn_dim = 6"), HasSubstr("would work: 1, 2")));
  std::vector<std::string> cut = flags;
  cut.insert(cut.end(), {kExpert, "4"});
  EXPECT_EQ(degrees_of(config_of(cut), std::nullopt), (Degrees{.shard = 1, .tensor = 4, .expert = 4}));
}

TEST(Degrees, WithoutADeviceCountThereAreAsManyAsTheDegreesAskFor) {
  EXPECT_EQ(degrees_of(config_of({}), std::nullopt), (Degrees{}));
  EXPECT_EQ(degrees_of(config_of({kShard, "4", kReplicate, "2"}), std::nullopt).devices(), 8);
}

TEST(Degrees, TheMeshLeavesOutAxesOfSizeOne) {
  EXPECT_EQ(to_string(mesh_of({.replicate = 2, .shard = 2})), "dp_replicate=2,dp_shard=2");
  EXPECT_EQ(mesh_of({}), Mesh());
}

TEST(Degrees, ThatDoNotFitTheDevicesNameACountThatWorks) {
  EXPECT_THAT(message_of([] {
                degrees_of(config_of({kShard, "3"}), 4);
              }),
              AllOf(HasSubstr("take 3 devices"), HasSubstr("there are 4"),
                    HasSubstr("parallelism.data_parallel_shard_degree = 4 would work, or --device.count 3")));
  EXPECT_THAT(message_of([] {
                degrees_of(config_of({kReplicate, "3"}), 8);
              }),
              AllOf(HasSubstr("data_parallel_replicate_degree = 3"), HasSubstr("would work: 1, 2, 4, 8")));
}

TEST(Degrees, TensorParallelMustDivideHeadsAndFeedForward) {
  EXPECT_THAT(message_of([] {
                degrees_of(config_of({kTensor, "6", "--model.n_heads", "16", "--model.n_kv_heads", "4",
                                      "--model.ffn_dim", "768"}),
                           std::nullopt);
              }),
              AllOf(HasSubstr("tp: parallelism.tensor_parallel_degree = 6"), HasSubstr("model.n_kv_heads = 4"),
                    HasSubstr("values that would work: 1, 2, 4, 8, 16")));
}

TEST(Degrees, SeveralRanksMayHaveTheSameKeyHead) {
  const Config config = config_of({"--model.n_heads", "16", "--model.n_kv_heads", "4", "--model.ffn_dim", "768"});
  EXPECT_FALSE(plan_options_of(config, mesh_of({.tensor = 4})).whole_kv_heads);
  EXPECT_TRUE(plan_options_of(config, mesh_of({.tensor = 8})).whole_kv_heads);
}

TEST(Degrees, ContextParallelMustDivideTheTokens) {
  const std::string degree = "--parallelism.context_parallel_degree";
  EXPECT_THAT(message_of([&] {
                degrees_of(config_of({degree, "4", "--training.seq_len", "100"}), std::nullopt);
              }),
              AllOf(HasSubstr("cp: training.seq_len = 100"), HasSubstr("no multiple of 8 pieces"),
                    HasSubstr("context_parallel_load_balancer"), HasSubstr("96 would work")));
  EXPECT_EQ(degrees_of(config_of({degree, "4", "--training.seq_len", "100",
                                  "--parallelism.context_parallel_load_balancer", "none"}),
                       8),
            (Degrees{.shard = 2, .context = 4}));
}

TEST(Degrees, SequenceParallelMustDivideTheTokens) {
  const std::vector<std::string> flags = {
      "--parallelism.enable_sequence_parallel", "--training.seq_len", "102", "--model.ffn_dim", "768", kTensor, "4"};
  EXPECT_THAT(message_of([&] { degrees_of(config_of(flags), std::nullopt); }),
              AllOf(HasSubstr("tp: training.seq_len = 102"), HasSubstr("100 would work")));
}

// Head and tail are cut into 2 · cp pieces, and each of the cp · tp ranks has as many tokens: 16 is a multiple of both.
TEST(Degrees, SequenceAndContextParallelShareTheTokens) {
  const auto degrees = [](const char* length) {
    return degrees_of(
        config_of({"--parallelism.enable_sequence_parallel", "--training.seq_len", length, "--model.n_heads", "16",
                   "--model.ffn_dim", "768", kTensor, "8", "--parallelism.context_parallel_degree", "2"}),
        std::nullopt);
  };
  EXPECT_EQ(degrees("16"), (Degrees{.shard = 1, .context = 2, .tensor = 8}));
  EXPECT_THAT(message_of([&] { degrees("24"); }), AllOf(HasSubstr("no multiple of 16"), HasSubstr("16 would work")));
}

const std::vector<std::string> kEightExperts = {"--model.n_experts", "8", "--model.expert_ffn_dim", "96"};

Config with_experts(std::vector<std::string> flags) {
  flags.insert(flags.end(), kEightExperts.begin(), kEightExperts.end());
  return config_of(flags);
}

TEST(Degrees, ExpertsAreCutOverTokensThenDataThenMatrices) {
  EXPECT_EQ(to_string(mesh_of({.shard = 4, .expert = 2})), "dp_shard=2,dp_shard_ep=2");
  EXPECT_EQ(to_string(mesh_of({.shard = 4, .expert = 4})), "dp_shard_ep=4");
  EXPECT_EQ(to_string(mesh_of({.shard = 2, .context = 2, .expert = 2})), "dp_shard=2,cp_ep=2");
  EXPECT_EQ(to_string(mesh_of({.replicate = 2, .shard = 2, .tensor = 2, .expert = 4})),
            "dp_replicate=2,dp_shard_ep=2,tp_ep=2");
  EXPECT_EQ(to_string(mesh_of({.shard = 6, .tensor = 4, .expert = 4})), "dp_shard=3,dp_shard_ep=2,tp=2,tp_ep=2");
  EXPECT_TRUE(plan_options_of(with_experts({}), mesh_of({.shard = 2, .tensor = 2, .expert = 4})).experts_over_tensor);
  EXPECT_FALSE(plan_options_of(with_experts({}), mesh_of({.shard = 2, .tensor = 2, .expert = 2})).experts_over_tensor);
}

TEST(Degrees, WithoutADeviceCountThereAreAsManyAsTheExpertsAskFor) {
  EXPECT_EQ(degrees_of(with_experts({kExpert, "4", kTensor, "2"}), std::nullopt),
            (Degrees{.shard = 2, .tensor = 2, .expert = 4}));
}

TEST(Degrees, ExpertParallelMustDivideExpertsAndDevices) {
  const auto complaint = [](const Config& config) { return message_of([&] { degrees_of(config, 4); }); };
  EXPECT_THAT(complaint(with_experts({kExpert, "16"})),
              AllOf(HasSubstr("ep: parallelism.expert_parallel_degree = 16"), HasSubstr("does not divide"),
                    HasSubstr("model.n_experts = 8"), HasSubstr("would work: 1, 2, 4")));
  EXPECT_THAT(
      complaint(with_experts({kExpert, "8"})),
      AllOf(HasSubstr("does not divide the 4 devices of dp_shard 4 × cp 1 × tp 1"), HasSubstr("would work: 1, 2, 4")));
  EXPECT_THAT(complaint(config_of({kExpert, "2"})),
              AllOf(HasSubstr("is of models with experts"), HasSubstr("model.n_experts = 0")));
}

TEST(StepRows, AccumulationFollowsFromTheGlobalBatch) {
  const Config config = config_of({"--training.local_batch_size", "4", "--training.global_batch_size", "24"});
  EXPECT_EQ(step_rows_of(config, {}), (StepRows{6, 4}));
  EXPECT_EQ(step_rows_of(config, {.shard = 2, .tensor = 2}), (StepRows{3, 8}));
  EXPECT_EQ(step_rows_of(config_of({"--training.local_batch_size", "4"}), {.shard = 2}), (StepRows{1, 8}));
}

TEST(StepRows, AGlobalBatchThatDoesNotDivideNamesThoseAroundIt) {
  const Config config = config_of({"--training.local_batch_size", "4", "--training.global_batch_size", "10"});
  EXPECT_THAT(message_of([&] { step_rows_of(config, {.shard = 2}); }), HasSubstr("8 or 16 would work"));
}

}  // namespace
}  // namespace tethys
