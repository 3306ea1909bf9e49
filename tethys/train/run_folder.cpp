#include "train/run_folder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/temporary_name.h"
#include "config/config.h"
#include "config/recipe.h"

namespace tethys {

namespace {

// The folders of checkpoints in a run's folder, whatever their name; links count as what they point to.
bool holds_checkpoint(const Path& folder) {
  std::error_code error;  // of a folder that is not ours to read
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with("step-")) return true;
  }
  return false;
}

// What is in the way of a file would else be found when the run has to write it: at its end, of the loss curve.
void check_free(const Path& folder) {
  for (const char* name : {"config.toml", "metrics.jsonl", "log.txt", "loss.png"}) {
    const Path path = folder / name;
    std::error_code ignored;
    if (is_there(path) && !std::filesystem::is_regular_file(path, ignored)) {
      user_error("{} is no file, and a run writes one of this name: move it away, or give another folder by --output",
                 path.string());
    }
  }
}

void remove_leftovers(const Path& folder) {
  for (const std::string& name : names_in(folder)) {
    if (target_of_temporary(name)) remove_path(folder / name);
  }
}

// The folder, its log and lock, and the folders that it is in, as far as they are not there.
std::vector<Path> missing_in(const Path& folder) {
  std::vector<Path> missing;
  for (const char* name : {"log.txt", ".lock"}) {
    if (!is_there(folder / name)) missing.push_back(folder / name);
  }
  for (Path path = whole_path(folder); !is_there(path); path = path.parent_path()) missing.push_back(path);
  return missing;
}

}  // namespace

bool RunFolder::holds_run(const Path& path) {
  std::error_code error;
  if (std::filesystem::file_size(path / "metrics.jsonl", error) > 0 && !error) return true;
  if (!is_there(path)) return false;
  const std::vector<std::string> names = names_in(path);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::filesystem::is_directory(path / name, error) && holds_checkpoint(path / name);
  });
}

const Path& RunFolder::made(const Path& path, bool resume) {
  if (!resume && holds_run(path)) {
    user_error("{} holds a run already; go on with it by --resume, or give another folder by --output", path.string());
  }
  check_free(path);
  make_directories(path);
  return path;
}

RunFolder::RunFolder(Path path, bool resume)
    : path_(std::move(path)), made_(missing_in(path_)), lock_(made(path_, resume)) {
  remove_leftovers(path_);
  std::error_code ignored;
  if (std::filesystem::is_directory(profile(), ignored)) remove_leftovers(profile());
}

RunFolder::~RunFolder() {
  std::error_code holds_more;
  for (const Path& path : made_) std::filesystem::remove(path, holds_more);
}

void load_run_config(Config& config, const Path& file) {
  if (read_file(file).find_first_not_of(" \t\r\n") == std::string::npos) {
    user_error("{} is empty, and was to hold the configuration of the run: put it back, such as from a run like it",
               file.string());
  }
  load_recipe(config, file.string(), {});
}

Path checkpoints_of(const Path& path) {
  const Path file = path / "config.toml";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    const Path usual = path / "checkpoint";
    return std::filesystem::is_directory(usual, ignored) ? usual : path;
  }
  Config config;
  load_run_config(config, file);
  const Path folder = path / config.get_string("checkpoint.folder");
  return std::filesystem::is_directory(folder, ignored) ? folder : path;
}

std::optional<Path> run_config_of(const Path& path) {
  Path folder = whole_path(path);
  for (int up = 0; up < 3; ++up, folder = folder.parent_path()) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / "config.toml", ignored)) return folder / "config.toml";
  }
  return std::nullopt;
}

Checkpoint open_checkpoint_of(const Path& path) {
  return open_newest([&] { return find_checkpoint(checkpoints_of(path)); });
}

}  // namespace tethys
