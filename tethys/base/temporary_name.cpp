#include "base/temporary_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

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

}  // namespace tethys
