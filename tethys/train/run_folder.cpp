#include "train/run_folder.h"

#include <utility>

#include "base/error.h"
#include "base/temporary_name.h"
#include "checkpoint/store.h"
#include "config/config.h"
#include "config/recipe.h"

namespace tethys {

namespace {

// The folders of checkpoints in a run's folder, whatever their name; links count as what they point to.
bool holds_checkpoint(const Path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with("step-")) return true;
  }
  return false;
}

void remove_leftovers(const Path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (target_of_temporary(entry.path().filename().string())) remove_path(entry.path());
  }
}

}  // namespace

bool RunFolder::holds_run(const Path& path) {
  std::error_code error;
  if (std::filesystem::file_size(path / "metrics.jsonl", error) > 0 && !error) return true;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_directory(error) && holds_checkpoint(entry.path())) return true;
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

RunFolder::RunFolder(Path path, bool resume) : path_(std::move(path)), lock_(made(path_, resume)) {
  remove_leftovers(path_);
}

Path checkpoints_of(const Path& path) {
  const Path file = path / "config.toml";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    const Path usual = path / "checkpoint";
    return std::filesystem::is_directory(usual, ignored) ? usual : path;
  }
  Config config;
  load_recipe(config, file.string(), {});
  const Path folder = path / config.get_string("checkpoint.folder");
  return std::filesystem::is_directory(folder, ignored) ? folder : path;
}

std::optional<Path> run_config_of(const Path& path) {
  Path folder = std::filesystem::absolute(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  for (int up = 0; up < 3; ++up, folder = folder.parent_path()) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / "config.toml", ignored)) return folder / "config.toml";
  }
  return std::nullopt;
}

Path find_checkpoint_of(const Path& path) { return find_checkpoint(checkpoints_of(path)); }

}  // namespace tethys
