#include "estimate/compile_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/config.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Config with(const std::vector<std::pair<std::string, OptionValue>>& values) {
  Config config;
  for (const auto& [name, value] : values) config.set(name, value, {Origin::Source::Flag, "--" + name});
  return config;
}

std::string complaint(const Config& config, const Slice& slice) {
  try {
    check_slice(config, slice);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

constexpr const char* kShard = "parallelism.data_parallel_shard_degree";
constexpr const char* kTensor = "parallelism.tensor_parallel_degree";
constexpr const char* kReplicate = "parallelism.data_parallel_replicate_degree";

TEST(CheckSlice, TakesAMeshThatFillsIt) {
  EXPECT_EQ(complaint(Config(), slice_named("v6e:4x4")), "none");
  EXPECT_EQ(complaint(with({{kShard, int64_t{8}}, {kTensor, int64_t{2}}}), slice_named("v6e:4x4")), "none");
  EXPECT_EQ(complaint(with({{kReplicate, int64_t{2}}}), slice_named("v6e:4x4", 2)), "none");
  EXPECT_EQ(complaint(Config(), slice_named("v6e:4x4", 2)), "none");  // parameters are sharded over both
}

TEST(CheckSlice, RefusesAMeshThatDoesNot) {
  EXPECT_THAT(complaint(with({{kShard, int64_t{32}}}), slice_named("v6e:4x4")),
              AllOf(HasSubstr("larger than v6e:4x4"), HasSubstr("is 32 devices, and there are 16"),
                    HasSubstr(std::string(kShard) + " = 16 would fill it")));
  EXPECT_THAT(complaint(with({{kShard, int64_t{4}}}), slice_named("v6e:4x4")), HasSubstr("does not fill v6e:4x4"));
  EXPECT_THAT(complaint(with({{kTensor, int64_t{3}}}), slice_named("v6e:4x4")), HasSubstr("comes in groups of 3"));
  EXPECT_THAT(complaint(with({{kTensor, int64_t{32}}}), slice_named("v6e:4x4")), HasSubstr("give a larger topology"));
  EXPECT_THAT(complaint(with({{kTensor, int64_t{32}}}), slice_named("v6e:4x4", 2)),
              AllOf(HasSubstr("1 data-parallel ranks"), HasSubstr("2 slices")));
  EXPECT_THAT(complaint(with({{"device.count", int64_t{4}}}), slice_named("v6e:4x4")), HasSubstr("leave it out"));
  EXPECT_THAT(complaint(with({{"graph.mode", std::string("eager")}}), slice_named("v6e:4x4")), HasSubstr("eager"));
}

}  // namespace
}  // namespace tethys
