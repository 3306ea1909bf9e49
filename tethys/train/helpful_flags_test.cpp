#include "train/helpful_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace tethys {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;

Config with(const std::vector<std::pair<std::string, OptionValue>>& values) {
  Config config;
  for (const auto& [name, value] : values) config.set(name, value, {Origin::Source::Flag, "--" + name});
  return config;
}

// Those that would help are those that do not hold yet, and each can be given as it stands.
TEST(HelpfulFlags, NameWhatIsNotSetYet) {
  const Config wide = with({{"training.local_batch_size", int64_t{8}}});
  const std::vector<std::string> flags = helpful_flags(wide, set_up(wide, 1));
  for (const char* flag : {"--graph.remat full: ", "--graph.scan_layers: ", "--training.local_batch_size 4: ",
                           "--kernels.attention chunked: ", "--kernels.loss chunked: "}) {
    EXPECT_THAT(flags, Contains(StartsWith(flag)));
  }
  const Config narrow = with({{"training.local_batch_size", int64_t{1}},
                              {"graph.scan_layers", true},
                              {"graph.remat", std::string("full")},
                              {"kernels.loss", std::string("chunked")}});
  const std::vector<std::string> rest = helpful_flags(narrow, set_up(narrow, 1));
  for (const char* flag : {"--graph.", "--training.local_batch_size", "--kernels.loss"}) {
    EXPECT_THAT(rest, Not(Contains(StartsWith(flag))));
  }
}

// More devices help where each has memory of its own, and so does the host's memory.
TEST(HelpfulFlags, FollowWhoseMemoryItIs) {
  const auto flags_on = [](const char* platform) {
    const Config config = with({{"device.platform", std::string(platform)}, {"graph.remat", std::string("full")}});
    return helpful_flags(config, set_up(config, 1));
  };
  for (const char* flag : {"--parallelism.tensor_parallel_degree 2: ", "--graph.remat_offload layer_input: "}) {
    EXPECT_THAT(flags_on("tpu"), Contains(StartsWith(flag)));
    EXPECT_THAT(flags_on("cpu"), Not(Contains(StartsWith(flag))));
  }
  EXPECT_THAT(flags_on("cpu"), Contains(StartsWith("--checkpoint.async_mode none: ")));
  EXPECT_THAT(flags_on("tpu"), Not(Contains(StartsWith("--checkpoint.async_mode"))));
}

}  // namespace
}  // namespace tethys
