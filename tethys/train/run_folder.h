// RunFolder: the output folder of a run, held by one process at a time.
//
//   config.toml    the effective configuration, a recipe that loads to it
//   metrics.jsonl  a line per logged step and per validation
//   log.txt        what the console showed
//   checkpoint/    the checkpoints (its name is checkpoint.folder)
//   loss.png       the loss curve, when the run has ended
#pragma once

#include <string>

#include "base/file.h"

namespace tethys {

class RunFolder {
 public:
  // Makes the folder. UserError if it holds a run and `resume` is not given, or another process holds it.
  RunFolder(Path path, bool resume);

  const Path& path() const { return path_; }
  Path config() const { return path_ / "config.toml"; }
  Path metrics() const { return path_ / "metrics.jsonl"; }
  Path log() const { return path_ / "log.txt"; }
  Path picture() const { return path_ / "loss.png"; }
  Path checkpoints(const std::string& name) const { return path_ / name; }

  // Whether a run has left something there.
  static bool holds_run(const Path& path);

 private:
  static const Path& made(const Path& path, bool resume);

  Path path_;
  FolderLock lock_;
};

}  // namespace tethys
