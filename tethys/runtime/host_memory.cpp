#include "runtime/host_memory.h"

#include <fmt/format.h>
#include <jemalloc/jemalloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/number.h"

// jemalloc reads it when the process starts: freed pages are never given back by themselves, those of huge blocks
// neither, and all threads find the same ones.
const char* malloc_conf = "dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0,narenas:1";

namespace tethys {
namespace {

void give_back_freed_memory() {
#ifndef __SANITIZE_ADDRESS__
  const std::string purge = fmt::format("arena.{}.purge", MALLCTL_ARENAS_ALL);
  const int failed = ::mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0);
  require(failed == 0, "jemalloc does not purge: error {}", failed);
#endif
}

}  // namespace

int64_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  return file >> size >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

int64_t limit_of(std::string_view cgroup, int64_t physical) {
  const auto limit = parse_number<int64_t>(cgroup.substr(0, cgroup.find('\n')));
  return limit && *limit > 0 ? std::min(*limit, physical) : physical;
}

int64_t physical_memory() {
  const int64_t physical = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  std::string line;
  std::ifstream file("/sys/fs/cgroup/memory.max");
  return std::getline(file, line) ? limit_of(line, physical) : physical;
}

int64_t resident_limit(int64_t needed, int64_t fresh, int64_t physical) {
  constexpr int64_t kProcess = int64_t{256} << 20;  // code, the compiler's leavings, the loader's batches
  return std::min(needed + needed / 4 + kProcess, physical - physical / 10 - fresh);
}

int64_t allocated_memory() {
#ifndef __SANITIZE_ADDRESS__
  uint64_t epoch = 1;  // written, it makes the statistics new
  size_t allocated = 0, size = sizeof allocated;
  const bool known = ::mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch) == 0 &&
                     ::mallctl("stats.allocated", &allocated, &size, nullptr, 0) == 0;
  return known ? static_cast<int64_t>(allocated) : 0;
#else
  return 0;
#endif
}

bool wait_until_allocated(int64_t most, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (allocated_memory() > most) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

bool trim_freed_memory(int64_t needed, int64_t fresh) {
  if (resident_memory() <= resident_limit(needed, fresh, physical_memory())) return false;
  give_back_freed_memory();
  return true;
}

}  // namespace tethys
