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
  EXPECT_EQ(degrees_of(config_of({kReplicate, "2", kTensor, "2"}), 16), (Degrees{2, 4, 2}));
  EXPECT_EQ(degrees_of(config_of({}), 4), (Degrees{1, 4, 1}));
}

TEST(Degrees, WithoutADeviceCountThereAreAsManyAsTheDegreesAskFor) {
  EXPECT_EQ(degrees_of(config_of({}), std::nullopt), (Degrees{1, 1, 1}));
  EXPECT_EQ(degrees_of(config_of({kShard, "4", kReplicate, "2"}), std::nullopt).devices(), 8);
}

TEST(Degrees, TheMeshLeavesOutAxesOfSizeOne) {
  EXPECT_EQ(to_string(mesh_of({2, 2, 1})), "dp_replicate=2,dp_shard=2");
  EXPECT_EQ(mesh_of({1, 1, 1}), Mesh());
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
  EXPECT_THAT(
      message_of([] {
        degrees_of(config_of({kTensor, "8", "--model.n_kv_heads", "4", "--model.ffn_dim", "768"}), std::nullopt);
      }),
      AllOf(HasSubstr("tp: parallelism.tensor_parallel_degree = 8"), HasSubstr("model.n_kv_heads = 4"),
            HasSubstr("values that would work: 1, 2, 4")));
}

TEST(StepRows, AccumulationFollowsFromTheGlobalBatch) {
  const Config config = config_of({"--training.local_batch_size", "4", "--training.global_batch_size", "24"});
  EXPECT_EQ(step_rows_of(config, {1, 1, 1}), (StepRows{6, 4}));
  EXPECT_EQ(step_rows_of(config, {1, 2, 2}), (StepRows{3, 8}));
  EXPECT_EQ(step_rows_of(config_of({"--training.local_batch_size", "4"}), {1, 2, 1}), (StepRows{1, 8}));
}

TEST(StepRows, AGlobalBatchThatDoesNotDivideNamesThoseAroundIt) {
  const Config config = config_of({"--training.local_batch_size", "4", "--training.global_batch_size", "10"});
  EXPECT_THAT(message_of([&] { step_rows_of(config, {1, 2, 1}); }), HasSubstr("8 or 16 would work"));
}

}  // namespace
}  // namespace tethys
