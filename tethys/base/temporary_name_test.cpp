#include "base/temporary_name.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <iterator>

#include "base/temporary_folder.h"

namespace tethys {
namespace {

int64_t count_in(const Path& folder) { return std::distance(std::filesystem::directory_iterator(folder), {}); }

TEST(TemporaryName, IsBesideTheFileAndTellsItsTarget) {
  const Path first = temporary_name("run/config.toml"), second = temporary_name("run/config.toml");
  EXPECT_NE(first, second);
  EXPECT_EQ(first.parent_path(), "run");
  EXPECT_EQ(target_of_temporary(first.filename().string()), "config.toml");
  EXPECT_EQ(target_of_temporary(temporary_name("x.partial-3").string()), "x.partial-3");
}

TEST(TemporaryName, IsNotEveryNameThatHoldsTheMark) {
  EXPECT_EQ(target_of_temporary("kept.partial-1"), std::nullopt);
  EXPECT_EQ(target_of_temporary(".config.toml"), std::nullopt);
}

TEST(TemporaryName, OfAFileThatIsAbandonedIsRemovedAndOfOneThatIsWrittenIsNot) {
  TemporaryFolder folder;
  const auto make = [&](const char* name, int hours) {
    const Path path = temporary_name(folder / name);
    write_file(path, "half");
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
    return path;
  };
  const Path old = make("a.idx", 2), fresh = make("a.idx", 0), other = make("a.toml", 2);
  remove_abandoned(folder.path(), ".idx");
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(fresh));
  EXPECT_TRUE(std::filesystem::exists(other));
  remove_abandoned(folder / "missing", ".idx");
}

TEST(TemporaryName, OfAFileThatAKilledProcessWroteIsRemovedWhenItIsWrittenAgain) {
  TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder / "a.html");
    ::_exit(0);  // nothing is removed, as after a kill
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_EQ(count_in(folder.path()), 1);
  {
    AtomicFile written(folder / "a.html");
    EXPECT_EQ(count_in(folder.path()), 1);
    write_file(folder / "a.html", "second");  // the first is still being written
    EXPECT_EQ(count_in(folder.path()), 2);
    written.commit();
  }
  EXPECT_EQ(count_in(folder.path()), 1);
}

TEST(TemporaryName, OfOtherFilesIsLeftAlone) {
  TemporaryFolder folder;
  write_file(temporary_name(folder / "b.html"), "half");
  remove_abandoned_of(folder / "a.html");
  EXPECT_EQ(count_in(folder.path()), 1);
  remove_abandoned_of(folder / "missing/a.html");
}

}  // namespace
}  // namespace tethys
