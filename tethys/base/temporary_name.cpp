#include "base/temporary_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

namespace tethys {
namespace {

constexpr std::string_view kMark = ".partial-";

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

void remove_abandoned(const Path& folder, std::string_view extension) {
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const auto target = target_of_temporary(entry->path().filename().string());
    std::error_code gone;  // removed by another process
    const auto written = entry->last_write_time(gone);
    if (!gone && target && target->ends_with(extension) && written < long_ago) {
      std::filesystem::remove(entry->path(), gone);
    }
  }
}

}  // namespace tethys
