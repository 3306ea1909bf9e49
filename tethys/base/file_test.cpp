#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no UserError";
}

TEST(File, ReadsBackWhatWasWrittenAndLeavesNothingElse) {
  TemporaryFolder folder;
  const std::string content = std::string("a\0b\n", 4) + std::string(200000, 'x');
  write_file(folder / "a.bin", content);
  EXPECT_EQ(read_file(folder / "a.bin"), content);
  write_file(folder / "a.bin", "");
  EXPECT_EQ(read_file(folder / "a.bin"), "");
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("a.bin"));
}

TEST(File, ErrorsNameThePathAndTheReason) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_file(folder / "none"); }), AllOf(HasSubstr("/none"), HasSubstr("No such file")));
  EXPECT_THAT(error_of([&] { read_file(folder.path()); }), HasSubstr("Is a directory"));
  EXPECT_THAT(error_of([&] { MappedFile(folder / "none"); }), AllOf(HasSubstr("/none"), HasSubstr("No such file")));
  EXPECT_THAT(error_of([&] { MappedFile(folder.path()); }), HasSubstr("not a file"));
  EXPECT_THAT(error_of([&] { write_file(folder / "none/a", "x"); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { rename_path(folder / "p", folder / "q"); }), AllOf(HasSubstr("/p"), HasSubstr("/q")));
  EXPECT_THAT(error_of([&] { sync_directory(folder / "none"); }), HasSubstr("No such file"));
}

TEST(ReadFile, RefusesWhatIsNoFileAndWhatIsTooLarge) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const Path& path : {folder / "pipe", Path("/dev/zero")}) {
    EXPECT_EQ(error_of([&] { read_file(path); }), "cannot read " + path.string() + ": it is no regular file");
  }
  EXPECT_THAT(error_of([&] { MappedFile(folder / "pipe"); }), HasSubstr("not a file"));
  write_file(folder / "a", "12345");
  EXPECT_EQ(read_file(folder / "a", 5), "12345");
  std::filesystem::resize_file(folder / "a", uint64_t{40} << 30);  // without taking that from the disk
  EXPECT_EQ(
      error_of([&] { read_file(folder / "a", 12345); }),
      "cannot read " + (folder / "a").string() + ": it is larger than the 12,345 bytes that are read of such a file");
  EXPECT_THAT(error_of([&] { read_file(folder / "a"); }), HasSubstr("larger than the 17,179,869,184 bytes"));
  EXPECT_EQ(read_file("/proc/self/comm").back(), '\n');  // it says no size
}

TEST(ReadInput, TakesAPipeToItsEndAndRefusesOneThatNothingWritesTo) {
  TemporaryFolder folder;
  const Path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { read_input(pipe, 100); }), "cannot read " + pipe.string() + ": nothing writes to this pipe");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string content(200000, 'x');  // more than a pipe holds
  const pid_t child = ::fork();
  if (child == 0) {
    ::usleep(20000);
    ssize_t sent = 0;
    for (ssize_t n = 1; n > 0; sent += n) n = ::write(ends[1], content.data() + sent, content.size() - sent);
    ::_exit(0);
  }
  ::close(ends[1]);
  EXPECT_EQ(read_input("/dev/fd/" + std::to_string(ends[0]), 1 << 20), content);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ends[0]);
  EXPECT_THAT(error_of([&] { read_input("/dev/zero", 1 << 20); }),
              HasSubstr("/dev/zero: it is larger than the 1,048,576"));
}

TEST(AppendedFile, KeepsWhatIsThereAndRefusesAPipe) {
  TemporaryFolder folder;
  const Path path = folder / "log";
  AppendedFile(path).append("one\n");
  AppendedFile second(path);
  second.append("two\n");
  EXPECT_EQ(read_file(path), "one\ntwo\n");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::string refused =
      "cannot write " + (folder / "pipe").string() + ": it is a pipe, expected a file; remove it";
  EXPECT_EQ(error_of([&] { AppendedFile(folder / "pipe"); }), refused);
  const Descriptor reader(::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
  EXPECT_EQ(error_of([&] { AppendedFile(folder / "pipe"); }), refused);
}

TEST(File, WhatTheSystemDoesNotSayOfAPathIsAUserErrorThatNamesIt) {
  TemporaryFolder folder;
  const Path loop = folder / "loop";
  std::filesystem::create_symlink(loop, loop);
  EXPECT_THAT(error_of([&] { is_there(loop); }), AllOf(HasSubstr("/loop"), HasSubstr("Too many levels")));
  EXPECT_THAT(error_of([&] { names_in(loop); }), AllOf(HasSubstr("/loop"), HasSubstr("Too many levels")));
  EXPECT_THAT(error_of([&] { names_in(folder / "none"); }), AllOf(HasSubstr("/none"), HasSubstr("No such file")));
  EXPECT_THAT(error_of([&] { whole_path(""); }), HasSubstr("empty"));
  EXPECT_FALSE(is_there(folder / "none"));
  write_file(folder / "file", "");
  EXPECT_FALSE(is_there(folder / "file/inside"));
  EXPECT_TRUE(is_there(folder / "file"));
}

TEST(File, AWholePathIsFromTheRootWithoutDotsAndASlashAtItsEnd) {
  EXPECT_EQ(whole_path("/a/b/../c/./"), "/a/c");
  EXPECT_EQ(whole_path("/"), "/");
  EXPECT_EQ(whole_path("x/"), std::filesystem::current_path() / "x");
  EXPECT_EQ(whole_path("."), std::filesystem::current_path());
}

TEST(File, AnUnreadableFileIsAUserError) {
  TemporaryFolder folder;
  write_file(folder / "a", "x");
  ::chmod(folder.path().c_str(), 0755);
  ::chmod((folder / "a").c_str(), 0);
  // Root reads every file, so it steps down for the moment.
  const uid_t user = ::geteuid();
  if (user == 0) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string read = error_of([&] { read_file(folder / "a"); });
  const std::string mapped = error_of([&] { MappedFile(folder / "a"); });
  ASSERT_EQ(::seteuid(user), 0);
  EXPECT_THAT(read, AllOf(HasSubstr("/a"), HasSubstr("Permission denied")));
  EXPECT_THAT(mapped, AllOf(HasSubstr("/a"), HasSubstr("Permission denied")));
}

TEST(File, AFailedWriteLeavesTheOldContentAndNoTemporaryFile) {
  TemporaryFolder folder;
  make_directories(folder / "folder/inside");
  EXPECT_THAT(error_of([&] { write_file(folder / "folder", "x"); }), HasSubstr("Is a directory"));
  write_file(folder / "a", "old");
  // A limit on the size of files stands for a full disk: the write breaks off in the middle.
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit limit = before;
  limit.rlim_cur = 1000;
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string message = "no DiskError";
  try {
    write_file(folder / "a", std::string(5000, 'x'));
  } catch (const DiskError& error) {
    message = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_THAT(message, AllOf(HasSubstr("/a"), HasSubstr("File too large")));
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_THAT(names_in(folder.path()), testing::UnorderedElementsAre("folder", "a"));
}

TEST(File, WithoutACommitTheOldContentStays) {
  TemporaryFolder folder;
  write_file(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write(std::as_bytes(std::span("new")));
    EXPECT_EQ(read_file(folder / "a"), "old");
  }
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("a"));
}

TEST(File, MapsWholeAndEmptyFiles) {
  TemporaryFolder folder;
  write_file(folder / "a", "abc");
  write_file(folder / "empty", "");
  MappedFile file(folder / "a");
  MappedFile moved = std::move(file);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(moved.bytes().data()), moved.bytes().size()), "abc");
  moved = MappedFile(folder / "empty");
  EXPECT_TRUE(moved.bytes().empty());
}

TEST(File, MakesFoldersWithTheirParents) {
  TemporaryFolder folder;
  make_directories(folder / "a/b/c/");
  make_directories(folder / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b/c"));
  write_file(folder / "file", "");
  EXPECT_THAT(error_of([&] { make_directories(folder / "file"); }),
              AllOf(HasSubstr("/file"), HasSubstr("something that is no folder has its name")));
  EXPECT_THAT(error_of([&] { make_directories(folder / "file/a"); }), HasSubstr("/file"));
  EXPECT_THAT(error_of([&] { make_directories(folder / std::string(300, 'a')); }), HasSubstr("File name too long"));
}

TEST(File, RenamesAndRemoves) {
  TemporaryFolder folder;
  make_directories(folder / "a/b");
  make_directories(folder / "full/b");
  EXPECT_THAT(error_of([&] { rename_path(folder / "a", folder / "full"); }), HasSubstr("not empty"));
  rename_path(folder / "a", folder / "c");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "c/b"));
  remove_path(folder / "c");
  remove_path(folder / "full");
  remove_path(folder / "none");
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(FolderLock, RefusesASecondHolderAndNamesTheFirst) {
  TemporaryFolder folder;
  {
    FolderLock lock(folder.path());
    EXPECT_THAT(error_of([&] { FolderLock second(folder.path()); }),
                AllOf(HasSubstr(folder.path().string()), HasSubstr(std::to_string(::getpid()))));
  }
  FolderLock again(folder.path());
}

TEST(FolderLock, GoesWhenItsProcessIsKilled) {
  TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    FolderLock lock(folder.path());
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(error_of([&] { FolderLock second(folder.path()); }), HasSubstr(std::to_string(child)));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  FolderLock lock(folder.path());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(WriteFile, GoesThroughALinkAndLeavesADeviceOrPipeAlone) {
  TemporaryFolder folder;
  write_file(folder / "file", "old");
  std::filesystem::create_symlink("file", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "file"), "new");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_file(folder / "pipe", "x"), UserError);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
}

TEST(WriteFile, MakesWhatADanglingLinkPointsTo) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "inside");
  std::filesystem::create_symlink("inside/second", folder / "first");
  std::filesystem::create_symlink(folder / "file", folder / "inside/second");
  write_file(folder / "first", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "inside/second"));
  EXPECT_EQ(read_file(folder / "file"), "new");
}

TEST(WriteFile, RefusesLinksThatLeadInACircle) {
  TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  EXPECT_THAT(error_of([&] { write_file(folder / "a", "x"); }), AllOf(HasSubstr("/a: "), HasSubstr("circle")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "a"));
}

TEST(WriteFile, NamesWhatWasGivenAndNoOtherNameInErrors) {
  TemporaryFolder folder;
  std::filesystem::create_symlink("none/real", folder / "link");
  for (const Path& path : {folder / "none/file", folder / "link"}) {
    for (const auto& action :
         {std::function([&] { write_file(path, "x"); }), std::function([&] { require_writable(path); })}) {
      EXPECT_EQ(error_of(action), "cannot write " + path.string() + ": No such file or directory");
    }
  }
}

TEST(RequireWritable, LeavesEverythingAsItIs) {
  TemporaryFolder folder;
  write_file(folder / "a", "old");
  require_writable(folder / "a");
  require_writable(folder / "b");
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("a"));
}

}  // namespace
}  // namespace tethys
