#include "base/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace tethys::disk {
namespace {

std::atomic<Hook> current_hook = nullptr;

Fault fault_of(Operation operation, const std::filesystem::path& path, size_t bytes = 0) {
  const Hook hook = current_hook.load(std::memory_order_relaxed);
  return hook == nullptr ? Fault{} : hook(operation, path, bytes);
}

// Makes the call, unless the hook has it fail; again while a signal interrupts it.
template <typename Call>
auto unless(const Fault& fault, Call call) -> decltype(call()) {
  if (fault.error != 0) {
    errno = fault.error;
    return -1;
  }
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::Create: return "create";
    case Operation::Write: return "write";
    case Operation::Flush: return "flush";
    case Operation::Rename: return "rename";
    case Operation::Remove: return "remove";
    case Operation::MakeFolder: return "make folder";
    case Operation::FlushFolder: return "flush folder";
  }
  return "";
}

void set_hook(Hook hook) { current_hook = hook; }

int create(const std::filesystem::path& path, int flags) {
  return unless(fault_of(Operation::Create, path),
                [&] { return ::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0666); });
}

ssize_t write(int fd, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  const Fault fault = fault_of(Operation::Write, path, bytes.size());
  const size_t size = std::min(bytes.size(), fault.at_most);
  return unless(fault, [&] { return ::write(fd, bytes.data(), size); });
}

int flush(int fd, const std::filesystem::path& path) {
  return unless(fault_of(Operation::Flush, path), [&] { return ::fsync(fd); });
}

int flush_folder(int fd, const std::filesystem::path& path) {
  return unless(fault_of(Operation::FlushFolder, path), [&] { return ::fsync(fd); });
}

int rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return unless(fault_of(Operation::Rename, to), [&] { return ::rename(from.c_str(), to.c_str()); });
}

int remove_file(const std::filesystem::path& path) {
  return unless(fault_of(Operation::Remove, path), [&] { return ::unlink(path.c_str()); });
}

int remove_folder(const std::filesystem::path& path) {
  return unless(fault_of(Operation::Remove, path), [&] { return ::rmdir(path.c_str()); });
}

int make_folder(const std::filesystem::path& path) {
  return unless(fault_of(Operation::MakeFolder, path), [&] { return ::mkdir(path.c_str(), 0777); });
}

}  // namespace tethys::disk
