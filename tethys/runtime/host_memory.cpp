#include "runtime/host_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/number.h"

namespace tethys {

void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  ::mallopt(M_ARENA_MAX, 1);
}

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

bool trim_freed_memory(int64_t needed, int64_t fresh) {
  if (resident_memory() <= resident_limit(needed, fresh, physical_memory())) return false;
  ::malloc_trim(0);
  return true;
}

}  // namespace tethys
