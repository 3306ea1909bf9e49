// RunFolder: the output folder of a run, held by one process at a time.
//
//   config.toml    the effective configuration, a recipe that loads to it
//   metrics.jsonl  a line per logged step, validation and sample; events.out.tfevents.* say the same to TensorBoard
//   log.txt        what the console showed
//   checkpoint/    the checkpoints (its name is checkpoint.folder)
//   loss.png       the loss curve, when the run has ended
//   profile/       timelines of its steps, where they are asked for
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/store.h"

namespace tethys {

class Config;

class RunFolder {
 public:
  // Makes the folder, and removes what a killed process left half-written. UserError if it holds a run and `resume` is
  // not given, another process holds it, or something that is no file has the name of one of a run's.
  RunFolder(Path path, bool resume);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  // A run that did not begin leaves nothing behind: the folder, its log and its lock go if they were not there before.
  ~RunFolder();
  // The run begins.
  void keep() { made_.clear(); }

  const Path& path() const { return path_; }
  Path config() const { return path_ / "config.toml"; }
  Path metrics() const { return path_ / "metrics.jsonl"; }
  Path log() const { return path_ / "log.txt"; }
  Path profile() const { return path_ / "profile"; }
  Path checkpoints(const std::string& name) const { return path_ / name; }

  // Whether a run has done a step there: it left metrics or a checkpoint.
  static bool holds_run(const Path& path);

 private:
  static const Path& made(const Path& path, bool resume);

  Path path_;
  std::vector<Path> made_;  // what was not there before, each after what is in it
  FolderLock lock_;
};

// Loads the configuration that a run left in this file. UserError if the file is empty, which would be all defaults.
void load_run_config(Config& config, const Path& file);

// The folder of checkpoints of the run in this folder, wherever its configuration says that it is; else the path
// itself.
Path checkpoints_of(const Path& path);

// The configuration that a run left in this folder or, for a checkpoint inside of a run, up to two above it.
std::optional<Path> run_config_of(const Path& path);

// The newest checkpoint of the run in this folder, wherever its configuration says that they are, even while the run
// goes on and removes its older ones; of any other path what find_checkpoint takes. UserError if there is none.
Checkpoint open_checkpoint_of(const Path& path);

}  // namespace tethys
