#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/testing.h"

namespace tethys {
namespace {

// `command` may begin with settings of the environment.
Ended shell(const std::string& command) {
  const TemporaryFolder folder;
  const Path output = folder / "output";
  const int status = std::system(fmt::format("{} > {} 2>&1", command, output.string()).c_str());
  return {WEXITSTATUS(status), read_file(output)};
}

std::string doctor(const std::string& environment, const std::string& program = TETHYS_PROGRAM) {
  return fmt::format("env {} {} doctor", environment, program);
}

TEST(Doctor, FindsNothingWrongHere) {
  const Ended ended = run_tethys({"doctor"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_NE(ended.output.find("no faults\n"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("xla_cpu.so: cpu, "), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("parquet "), std::string::npos) << ended.output;
}

void expect_fault(const Ended& ended, const std::string& fault, const std::string& fix) {
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_NE(ended.output.find("1 fault\n"), std::string::npos) << ended.output;
  const size_t line = ended.output.find("FAULT");
  ASSERT_NE(line, std::string::npos) << ended.output;
  const size_t end = ended.output.find('\n', line);
  EXPECT_NE(ended.output.substr(line, end - line).find(fault), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.substr(end + 1).find("fix: " + fix), std::string::npos) << ended.output;
}

TEST(Doctor, NamesAPluginThatIsMissing) {
  expect_fault(run_tethys({"doctor", "--plugin", "/no/such.so"}), "/no/such.so", "give the path of a plugin");
}

TEST(Doctor, NamesAPluginThatIsBroken) {
  const TemporaryFolder folder;
  write_file(folder / "half.so", std::string("\x7F") + "ELF and no more");
  expect_fault(run_tethys({"doctor", "--plugin", (folder / "half.so").string()}), "half.so",
               "give the path of a plugin");
}

TEST(Doctor, NamesFlagsThatEndAPlugin) {
  const std::string plugin = std::string(TETHYS_SOURCE_DIR) + "/.deps/plugins/xla_cpu.so";
  expect_fault(shell(doctor("XLA_FLAGS=--xla_no_such_flag=1") + " --plugin " + plugin), "xla_no_such_flag",
               "unset XLA_FLAGS, which is '--xla_no_such_flag=1'");
}

TEST(Doctor, NamesACacheThatCannotBeWritten) {
  const TemporaryFolder folder;
  write_file(folder / "file", "in the place of the folder");
  const std::string plugin = std::string(TETHYS_SOURCE_DIR) + "/.deps/plugins/xla_cpu.so";
  expect_fault(shell(doctor("XDG_CACHE_HOME=" + (folder / "file").string()) + " --plugin " + plugin), "cache",
               fmt::format("make {}/tethys a folder", (folder / "file").string()));
}

// Beside a copy of the program, which has no other.
TEST(Doctor, NamesAReaderOfParquetThatIsDamagedAndDoesNotMissOne) {
  const TemporaryFolder folder;
  const Path program = folder / "tethys", reader = folder / "tethys_parquet.so";
  std::filesystem::copy_file(TETHYS_PROGRAM, program);
  std::filesystem::create_symlink(Path(TETHYS_SOURCE_DIR) / "recipes", folder / "recipes");
  const std::string plugin = std::string(TETHYS_SOURCE_DIR) + "/.deps/plugins/xla_cpu.so";
  const std::string command = doctor("", program.string()) + " --plugin " + plugin;
  const Ended without = shell(command);
  EXPECT_EQ(without.status, 0) << without.output;
  EXPECT_NE(without.output.find("note   parquet  the reader of Parquet is not there"), std::string::npos)
      << without.output;
  write_file(reader, std::string("\x7F") + "ELF and no more");
  expect_fault(shell(command), reader.string() + ", is damaged",
               "build it anew by `make parquet`, or remove " + reader.string());
}

TEST(Doctor, NamesRecipesThatAreNotFound) {
  const TemporaryFolder folder;
  const Path program = folder / "tethys";
  std::filesystem::copy_file(TETHYS_PROGRAM, program);
  const std::string plugin = std::string(TETHYS_SOURCE_DIR) + "/.deps/plugins/xla_cpu.so";
  expect_fault(shell(doctor("", program.string()) + " --plugin " + plugin), "recipes", "run build/release/tethys");
}

}  // namespace
}  // namespace tethys
