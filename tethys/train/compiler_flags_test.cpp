#include "train/compiler_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace tethys {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr const char* kGather2D = "xla_tpu_enable_sparse_core_collective_offload_2d_all_gather";
constexpr const char* kGather3D = "xla_tpu_enable_sparse_core_collective_offload_3d_all_gather";
constexpr const char* kScatter = "xla_tpu_enable_sparse_core_collective_offload_nd_reduce_scatter";

TEST(CompilerFlags, AreThoseOfTheKindOfTpu) {
  const Config config;
  EXPECT_THAT(compiler_flags(config, "v6e"), Contains(Pair(kGather2D, pjrt::OptionValue(true))));
  EXPECT_THAT(compiler_flags(config, "v6e"), Not(Contains(Key(kGather3D))));
  EXPECT_THAT(compiler_flags(config, "v5p"), Contains(Key(kGather3D)));
  EXPECT_THAT(compiler_flags(config, "v5e"), Contains(Key(kScatter)));
  EXPECT_EQ(compiler_flags(config, "TPU v6 lite"), compiler_flags(config, "v6e"));
  EXPECT_EQ(compiler_flags(config, "TPU v5 lite"), compiler_flags(config, "v5e"));
  EXPECT_EQ(compiler_flags(config, "TPU v5"), compiler_flags(config, "v5p"));
  EXPECT_THAT(compiler_flags(config, "cpu"), IsEmpty());
}

TEST(CompilerFlags, FollowTheOptionsAndGiveWayToTheCompilersOwn) {
  Config config;
  const Origin flag{Origin::Source::Flag, "flag"};
  config.set("compile.async_gathers", false, flag);
  EXPECT_THAT(compiler_flags(config, "v6e"), Not(Contains(Key(kGather2D))));
  config.set("device.compile_options", std::vector<std::string>{std::string(kScatter) + "=false"}, flag);
  EXPECT_THAT(compiler_flags(config, "v6e"), Contains(Pair(kScatter, pjrt::OptionValue(false))));
  config.set("device.platform", std::string("tpu"), flag);
  config.set("compile.scoped_vmem_kib", int64_t{98304}, flag);
  EXPECT_THAT(compiler_flags(config, "v6e"),
              Contains(Pair("xla_tpu_scoped_vmem_limit_kib", pjrt::OptionValue(int64_t{98304}))));
}

}  // namespace
}  // namespace tethys
