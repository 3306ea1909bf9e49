#include "base/atomic_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> names_in(const Path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST(AtomicFolder, AppearsAsAWholeOrNotAtAll) {
  TemporaryFolder place;
  {
    AtomicFolder folder(place / "dropped");
    write_file(folder / "a", "x");
  }
  EXPECT_TRUE(names_in(place.path()).empty());
  AtomicFolder folder(place / "new/kept/");
  write_file(folder / "a", "x");
  EXPECT_FALSE(std::filesystem::exists(place / "new/kept"));
  folder.commit();
  EXPECT_EQ(folder.path(), place / "new/kept");
  EXPECT_EQ(read_file(place / "new/kept/a"), "x");
  EXPECT_THAT(names_in(place / "new"), testing::ElementsAre("kept"));
}

TEST(AtomicFolder, OfTwoAtOnceTheFirstIsKeptWholeAndTheOtherIsRefused) {
  TemporaryFolder place;
  AtomicFolder first(place / "out");
  {
    AtomicFolder second(place / "out");
    write_file(second / "a", "second");
    write_file(second / "b", "second");
    write_file(first / "a", "first");
    first.commit();
    try {
      second.commit();
      FAIL() << "a folder was replaced";
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr((place / "out").string()), HasSubstr("made by another process")));
    }
  }
  EXPECT_THAT(names_in(place.path()), testing::ElementsAre("out"));
  EXPECT_THAT(names_in(place / "out"), testing::ElementsAre("a"));
  EXPECT_EQ(read_file(place / "out/a"), "first");
}

TEST(AtomicFolder, OfManyProcessesAtOnceOneMakesItAndEachOtherIsToldSo) {
  TemporaryFolder place;
  constexpr int kRounds = 20, kProcesses = 6;
  for (int round = 0; round < kRounds; ++round) {
    const Path path = place / fmt::format("out{}", round);
    for (int i = 0; i < kProcesses; ++i) {
      if (::fork() > 0) continue;
      try {
        AtomicFolder folder(path);
        write_file(folder / "a", "x");
        folder.commit();
      } catch (const UserError& error) {
        const std::string_view text = error.what();
        const bool told = text.find("by another process") != text.npos || text.find("is there already") != text.npos;
        ::_exit(told ? 1 : 2);
      }
      ::_exit(0);
    }
    std::array<int, 3> ended = {};
    for (int i = 0, status = 0; i<kProcesses&& ::wait(&status)> 0; ++i) ++ended.at(WEXITSTATUS(status));
    EXPECT_THAT(ended, testing::ElementsAre(1, kProcesses - 1, 0));
  }
  EXPECT_EQ(names_in(place.path()).size(), size_t{kRounds});
}

TEST(AtomicFolder, TakesAnEmptyFolderAlsoBehindALinkAndNothingElse) {
  TemporaryFolder place;
  std::filesystem::create_directory(place / "empty");
  std::filesystem::create_symlink("empty", place / "link");
  AtomicFolder folder(place / "link");
  write_file(folder / "a", "x");
  folder.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(place / "link"));
  EXPECT_EQ(read_file(place / "empty/a"), "x");
  write_file(place / "file", "");
  for (const char* name : {"link", "file"}) EXPECT_THROW(AtomicFolder(place / name), UserError) << name;
}

TEST(AtomicFolder, WhatAKilledProcessLeftIsRemovedByTheNext) {
  TemporaryFolder place;
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFolder folder(place / "out");
    write_file(folder / "a", "half");
    ::_exit(0);  // nothing is removed, as after a kill
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_EQ(names_in(place.path()).size(), 1U);
  AtomicFolder(place / "out").commit();
  EXPECT_THAT(names_in(place.path()), testing::ElementsAre("out"));
}

}  // namespace
}  // namespace tethys
