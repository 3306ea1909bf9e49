#include "base/temporary_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>

#include "base/error.h"

namespace tethys {
namespace {

constexpr std::string_view kMark = ".partial-";

int lock(int fd, int operation) {
  int result = ::flock(fd, operation);
  while (result != 0 && errno == EINTR) result = ::flock(fd, operation);
  return result;
}

// Holds the lock of what it removes, so that nobody claims it meanwhile. Where there are no locks all stays.
void remove_unclaimed(const Path& path) {
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), O_RDWR | kFlags));  // some network file systems lock nothing less
  if (file.get() < 0 && errno == EISDIR) file = Descriptor(::open(path.c_str(), O_RDONLY | kFlags));
  if (file.get() < 0 || lock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  try {
    remove_path(path);
  } catch (const Error&) {  // it stays, then
  }
}

void for_each_temporary(const Path& folder,
                        const std::function<void(const Path& path, const std::string& target)>& use) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (const auto target = target_of_temporary(entry->path().filename().string())) use(entry->path(), *target);
  }
}

}  // namespace

Path temporary_name(const Path& path) {
  static std::atomic<int> count = 0;
  return path.parent_path() / fmt::format(".{}{}{}-{}", path.filename().string(), kMark, ::getpid(), count++);
}

std::optional<std::string> target_of_temporary(std::string_view name) {
  const size_t mark = name.rfind(kMark);
  if (!name.starts_with('.') || mark == std::string_view::npos) return std::nullopt;
  return std::string(name.substr(1, mark - 1));
}

bool claim_temporary(int fd, const Path& temporary) {
  if (fd >= 0 && lock(fd, LOCK_EX) != 0) return true;  // without locks nobody removes it
  struct stat mine = {}, there = {};
  return fd >= 0 && ::fstat(fd, &mine) == 0 && ::lstat(temporary.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

void remove_abandoned_of(const Path& target) {
  const Path folder = target.has_parent_path() ? target.parent_path() : Path(".");
  for_each_temporary(folder, [&](const Path& path, const std::string& name) {
    if (name == target.filename()) remove_unclaimed(path);
  });
}

void remove_abandoned(const Path& folder, std::string_view extension) {
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for_each_temporary(folder, [&](const Path& path, const std::string& target) {
    std::error_code gone;  // removed by another process
    const auto written = std::filesystem::last_write_time(path, gone);
    if (!gone && target.ends_with(extension) && written < long_ago) remove_unclaimed(path);
  });
}

}  // namespace tethys
