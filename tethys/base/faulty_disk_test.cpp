#include "base/faulty_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Fault = FaultyDisk::Fault;

std::vector<std::string> names_in(const Path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

// What writing "new data" over the file "a" says on such a disk.
std::string error_of_writing(const Path& folder, int64_t at, Fault fault) {
  FaultyDisk disk({.at = at, .fault = fault});
  try {
    write_file(folder / "a", "new data");
  } catch (const DiskError& error) {
    return error.what();
  }
  return "no DiskError";
}

TEST(FaultyDisk, SeesEachOperationOfAWriteAndOfFolders) {
  TemporaryFolder folder;
  FaultyDisk disk({});
  write_file(folder / "a12.json", "text");
  EXPECT_THAT(disk.stages(), ElementsAre("create aN.json", "write aN.json", "flush aN.json", "rename aN.json",
                                         "flush folder " + FaultyDisk::stage_of(disk::Operation::Write, folder.path())
                                                               .substr(std::string("write ").size())));
  make_directories(folder / "x/y");
  rename_path(folder / "x", folder / "z");
  remove_path(folder / "z");
  std::vector<std::string> stages = disk.stages();
  std::erase_if(stages, [](const std::string& stage) { return stage.starts_with("flush folder tethys"); });
  stages.erase(stages.begin(), stages.begin() + 4);
  EXPECT_THAT(stages,
              ElementsAre("make folder x", "make folder y", "flush folder x", "rename z", "remove y", "remove z"));
}

TEST(FaultyDisk, AtNoOperationDoesAFailedWriteTouchTheOldContent) {
  // create, write, flush and rename; what is done after the rename cannot take it back.
  for (int64_t at = 0; at < 4; ++at) {
    TemporaryFolder folder;
    write_file(folder / "a", "old");
    EXPECT_THAT(error_of_writing(folder.path(), at, Fault::Broken), HasSubstr("Input/output error")) << at;
    EXPECT_EQ(read_file(folder / "a"), "old");
    EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
  }
  for (int64_t at : {0, 1}) {
    TemporaryFolder folder;
    write_file(folder / "a", "old");
    EXPECT_THAT(error_of_writing(folder.path(), at, Fault::Full), HasSubstr("No space left on device")) << at;
    EXPECT_EQ(read_file(folder / "a"), "old");
    EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
  }
}

TEST(FaultyDisk, AShortWriteIsGoneOnWith) {
  TemporaryFolder folder;
  EXPECT_EQ(error_of_writing(folder.path(), 1, Fault::Short), "no DiskError");
  EXPECT_EQ(read_file(folder / "a"), "new data");
}

TEST(FaultyDisk, KillsInTheMiddleOfAWrite) {
  TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    error_of_writing(folder.path(), 1, Fault::Kill);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  const std::vector<std::string> names = names_in(folder.path());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_THAT(names[0], HasSubstr(".a.partial-"));
  EXPECT_EQ(read_file(folder / names[0]), "new ");
}

TEST(FaultyDisk, RemovesALinkAndNotWhatItPointsTo) {
  TemporaryFolder folder;
  make_directories(folder / "kept");
  write_file(folder / "kept/file", "x");
  make_directories(folder / "gone");
  std::filesystem::create_directory_symlink(folder / "kept", folder / "gone/link");
  remove_path(folder / "gone");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("kept"));
  EXPECT_EQ(read_file(folder / "kept/file"), "x");
}

}  // namespace
}  // namespace tethys
