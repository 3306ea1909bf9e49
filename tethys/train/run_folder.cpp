#include "train/run_folder.h"

#include <utility>

#include "base/error.h"

namespace tethys {

bool RunFolder::holds_run(const Path& path) {
  std::error_code ignored;
  for (const char* name : {"config.toml", "metrics.jsonl", "checkpoint"}) {
    if (std::filesystem::exists(path / name, ignored)) return true;
  }
  return false;
}

const Path& RunFolder::made(const Path& path, bool resume) {
  if (!resume && holds_run(path)) {
    user_error("{} holds a run already; go on with it by --resume, or give another folder by --output", path.string());
  }
  make_directories(path);
  return path;
}

RunFolder::RunFolder(Path path, bool resume) : path_(std::move(path)), lock_(made(path_, resume)) {}

}  // namespace tethys
