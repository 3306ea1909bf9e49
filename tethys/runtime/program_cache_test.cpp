#include "runtime/program_cache.h"

#include <gtest/gtest.h>

#include <set>

namespace tethys {
namespace {

const CompilerIdentity kCompiler = {"cpu", "plugin 1", "avx2 fma", 8, ""};

TEST(ProgramKey, EverythingThatReachesTheCompilerChangesIt) {
  const pjrt::CompileOptions options = compile_options(Mesh({{"tp", 2}}));
  const std::vector<Handler> handlers = {{"dot", nullptr, "1"}};
  std::set<std::string> keys = {program_key("text", options, kCompiler, handlers)};
  auto expect_new = [&](const std::string& key, const char* what) { EXPECT_TRUE(keys.insert(key).second) << what; };
  auto with = [&](auto change) {
    CompilerIdentity compiler = kCompiler;
    change(compiler);
    return program_key("text", options, compiler, handlers);
  };
  expect_new(program_key("other", options, kCompiler, handlers), "text");
  expect_new(program_key("text", compile_options(Mesh({{"tp", 4}})), kCompiler, handlers), "partitions");
  expect_new(program_key("text", compile_options(Mesh({{"tp", 2}}), {{"flag", true}}), kCompiler, handlers), "flag");
  expect_new(program_key("text", options, kCompiler, {}), "no handlers");
  expect_new(program_key("text", options, kCompiler, {{"dot", nullptr, "2"}}), "version of a handler");
  expect_new(with([](auto& c) { c.platform = "tpu"; }), "platform");
  expect_new(with([](auto& c) { c.plugin = "plugin 2"; }), "plugin");
  expect_new(with([](auto& c) { c.cpu = "avx512"; }), "CPU features");
  expect_new(with([](auto& c) { c.devices = 4; }), "devices");
  expect_new(with([](auto& c) { c.environment = "--xla_cpu_max_isa=AVX2"; }), "environment");
  EXPECT_EQ(program_key("text", options, kCompiler, handlers),
            *keys.find(program_key("text", options, kCompiler, handlers)));
}

TEST(ProgramKey, PartsDoNotRunTogether) {
  const pjrt::CompileOptions options = compile_options(Mesh());
  EXPECT_NE(program_key("t", options, kCompiler, {{"ab", nullptr, "c"}}),
            program_key("t", options, kCompiler, {{"a", nullptr, "bc"}}));
}

TEST(CpuIdentity, NamesTheFeaturesOfThisMachine) {
  const std::string cpu = cpu_identity();
  EXPECT_TRUE(cpu.find("sse2") != std::string::npos || cpu.find("asimd") != std::string::npos) << cpu;
}

TEST(CompileOptionsOfAMesh, OnePartitionPerDevice) {
  EXPECT_EQ(compile_options(Mesh({{"dp_shard", 2}, {"tp", 4}})).num_partitions, 8);
  EXPECT_TRUE(compile_options(Mesh({{"tp", 2}})).use_spmd_partitioning);
  EXPECT_FALSE(compile_options(Mesh()).use_spmd_partitioning);
}

}  // namespace
}  // namespace tethys
