#include "runtime/program_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/temporary_folder.h"

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

TEST(ContentKey, IsOfTheProgramAloneAndNotOfTheDevicesThatItIsAssignedTo) {
  const pjrt::CompileOptions options = compile_options(Mesh({{"tp", 2}}));
  const std::vector<Handler> handlers = {{"dot", nullptr, "1"}};
  std::set<std::string> keys = {content_key("text", options, handlers)};
  EXPECT_TRUE(keys.insert(content_key("other", options, handlers)).second);
  EXPECT_TRUE(keys.insert(content_key("text", compile_options(Mesh({{"tp", 4}})), handlers)).second);
  EXPECT_TRUE(keys.insert(content_key("text", compile_options(Mesh({{"tp", 2}}), {{"flag", true}}), handlers)).second);
  EXPECT_TRUE(keys.insert(content_key("text", options, {})).second);
  pjrt::CompileOptions assigned = options;
  assigned.device_assignment = {{7}, {9}};
  EXPECT_EQ(content_key("text", assigned, handlers), content_key("text", options, handlers));
  EXPECT_NE(program_key("text", assigned, kCompiler, handlers), program_key("text", options, kCompiler, handlers));
}

TEST(ProgramKey, PartsDoNotRunTogether) {
  const pjrt::CompileOptions options = compile_options(Mesh());
  EXPECT_NE(program_key("t", options, kCompiler, {{"ab", nullptr, "c"}}),
            program_key("t", options, kCompiler, {{"a", nullptr, "bc"}}));
}

TEST(StoredPrograms, TheOldestGoFirstAndOnlyPrograms) {
  const TemporaryFolder folder;
  const auto now = std::filesystem::file_time_type::clock::now();
  const auto put = [&](const char* name, int hours_ago) {
    write_file(folder / name, std::string(100, 'x'));
    std::filesystem::last_write_time(folder / name, now - std::chrono::hours(hours_ago));
  };
  put("a.program", 1);
  put("b.program", 3);
  put("c.program", 2);
  put("notes.txt", 9);
  remove_oldest(folder.path(), 300);
  EXPECT_TRUE(std::filesystem::exists(folder / "b.program"));
  remove_oldest(folder.path(), 250);
  EXPECT_FALSE(std::filesystem::exists(folder / "b.program"));
  EXPECT_TRUE(std::filesystem::exists(folder / "c.program"));
  remove_oldest(folder.path(), 100);
  EXPECT_FALSE(std::filesystem::exists(folder / "c.program"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a.program"));
  EXPECT_TRUE(std::filesystem::exists(folder / "notes.txt"));
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
