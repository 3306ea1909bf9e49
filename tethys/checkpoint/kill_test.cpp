// kill -9 and power cuts at every point of a save: the newest complete checkpoint always loads, bit for bit.
//
// This file replaces the system calls that change a disk, for the whole test program. In a child that a test has armed
// they count, and at the chosen call the process dies: a write in its middle, another call before it happens. A power
// cut also takes back what no fsync had made sure: the content of files, and renames.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/faulty_disk.h"
#include "base/temporary_folder.h"
#include "checkpoint/store.h"

namespace tethys {
namespace {

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
};

struct UnflushedFile {
  FileId id;
  int fd;  // our own, as the writer closes his
};

struct UnflushedRename {
  std::string from, to;
  FileId folder;
};

struct Drive {
  bool armed = false;
  bool power_cut = false;
  int calls_left = 0;
  std::vector<UnflushedFile> files;
  std::vector<UnflushedRename> renames;
} drive;

FileId id_of(int fd) {
  struct stat s = {};
  ::fstat(fd, &s);
  return {s.st_dev, s.st_ino};
}

FileId folder_id_of(const std::string& path) {
  struct stat s = {};
  ::stat(Path(path).parent_path().c_str(), &s);
  return {s.st_dev, s.st_ino};
}

[[noreturn]] void die() {
  if (drive.power_cut) {
    for (const UnflushedFile& file : drive.files) {
      if (::ftruncate(file.fd, 0) != 0) ::_exit(3);
    }
    for (size_t i = drive.renames.size(); i-- > 0;) {
      ::syscall(SYS_renameat, AT_FDCWD, drive.renames[i].to.c_str(), AT_FDCWD, drive.renames[i].from.c_str());
    }
  }
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

bool is_last_call() { return drive.armed && drive.calls_left-- == 0; }

}  // namespace
}  // namespace tethys

using tethys::drive;

extern "C" ssize_t write(int fd, const void* data, size_t size) {
  if (tethys::is_last_call()) {
    ::syscall(SYS_write, fd, data, size / 2);
    tethys::die();
  }
  if (drive.armed && drive.power_cut)
    drive.files.push_back({tethys::id_of(fd), static_cast<int>(::syscall(SYS_dup, fd))});
  return ::syscall(SYS_write, fd, data, size);
}

// The real flush would prove nothing here, and takes time.
extern "C" int fsync(int fd) {
  if (tethys::is_last_call()) tethys::die();
  const tethys::FileId id = tethys::id_of(fd);
  std::erase_if(drive.files, [&](const auto& file) { return file.id == id; });
  std::erase_if(drive.renames, [&](const auto& rename) { return rename.folder == id; });
  return 0;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  if (tethys::is_last_call()) tethys::die();
  if (drive.armed && drive.power_cut) drive.renames.push_back({from, to, tethys::folder_id_of(to)});
  return static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

extern "C" int mkdir(const char* path, mode_t mode) noexcept {
  if (tethys::is_last_call()) tethys::die();
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

extern "C" int unlink(const char* path) noexcept {
  if (tethys::is_last_call()) tethys::die();
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

extern "C" int rmdir(const char* path) noexcept {
  if (tethys::is_last_call()) tethys::die();
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

HostTensor tensor_at(int64_t step) {
  std::vector<double> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(step) + 0.001 * static_cast<double>(i);
  return HostTensor::of<double>({10, 100}, values);
}

void save(const CheckpointStore& store, int64_t step) {
  const HostTensor tensor = tensor_at(step);
  std::vector<PieceSource> pieces;
  for (const Window& window : {Window{{0, 0}, {6, 100}}, Window{{6, 0}, {4, 100}}}) {
    pieces.push_back({"w", tensor.type(), window, [&tensor, window](std::span<std::byte> out) {
                        copy_shared(8, whole(tensor.type().dims), tensor.bytes(), window, out);
                      }});
  }
  store.save({step, "fingerprint", 1, step}, pieces, 2);
}

enum class End { Done, Killed, Failed };

// Saves step 20 in a child that dies at call number `calls`.
End save_and_die(const CheckpointStore& store, int calls, bool power_cut) {
  const pid_t child = ::fork();
  if (child == 0) {
    drive = {true, power_cut, calls, {}, {}};
    try {
      save(store, 20);
    } catch (const std::exception&) {
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return End::Failed;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return End::Killed;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::Done : End::Failed;
}

void expect_all_load(const CheckpointStore& store) {
  for (int64_t step : store.steps()) {
    Checkpoint checkpoint(store.path_of(step));
    EXPECT_EQ(checkpoint.manifest().state.step, step);
    EXPECT_EQ(checkpoint.read("w"), tensor_at(step));
  }
}

std::vector<std::string> names_in(const Path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

class KilledSave : public testing::TestWithParam<bool> {};

TEST_P(KilledSave, LeavesTheNewestCompleteCheckpointUsable) {
  int before = 0, after = 0;  // kills that left step 10, and step 20, as the newest
  End end = End::Killed;
  for (int calls = 0; end == End::Killed; ++calls) {
    SCOPED_TRACE(calls);
    TemporaryFolder folder;
    const CheckpointStore store(folder.path());
    save(store, 5);
    save(store, 10);
    end = save_and_die(store, calls, GetParam());
    ASSERT_NE(end, End::Failed);
    ASSERT_TRUE(store.newest().has_value());
    ++(*store.newest() == 10 ? before : after);
    EXPECT_THAT(*store.newest(), testing::AnyOf(10, 20));
    EXPECT_THAT(store.steps(), testing::Contains(10));
    expect_all_load(store);
    // The run resumes from there, and no trace of the kill is left.
    if (*store.newest() == 10) save(store, 20);
    save(store, 30);
    EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("step-00000020", "step-00000030"));
    EXPECT_THAT(names_in(store.path_of(20)), UnorderedElementsAre("manifest.json", "process-00000.safetensors"));
    expect_all_load(store);
  }
  EXPECT_EQ(end, End::Done);
  // The last kill before the folder has its name comes late, and there are some after it: in the removal of step 5.
  EXPECT_GE(before, 15);
  EXPECT_GE(after, 5);
}

// What kills and faults are counted by misses no call that changes the disk. Opening is not among the replaced calls.
TEST(FaultyDisk, SeesEveryCallThatASaveMakes) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  for (const int64_t step : {5, 10}) save(store, step);
  FaultyDisk counting({});
  drive = {true, false, 1 << 20, {}, {}};
  save(store, 20);
  const int calls = (1 << 20) - drive.calls_left;
  drive = {};
  const std::vector<std::string> stages = counting.stages();
  const auto opens = [](const std::string& stage) { return stage.starts_with("create "); };
  EXPECT_EQ(static_cast<int>(stages.size() - std::count_if(stages.begin(), stages.end(), opens)), calls);
}

INSTANTIATE_TEST_SUITE_P(All, KilledSave, testing::Bool(),
                         [](const auto& info) { return info.param ? "PowerCut" : "Kill9"; });

}  // namespace
}  // namespace tethys
