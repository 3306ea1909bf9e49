// Training: a run from its configuration to its last checkpoint.
//
//   TrainingResult result = run_training(config, {.output = "outputs/run", .machine = {.plugin = path}}, callbacks);
//
// The host hands the device one step while the one before still runs, and sees each loss one step late, so nothing
// waits in between. A run that is resumed continues bit for bit as if it had never stopped.
#pragma once

#include <functional>
#include <string>

#include "base/file.h"
#include "data/progress.h"
#include "runtime/watchdog.h"
#include "train/corpus.h"
#include "train/finite.h"
#include "train/machine.h"

namespace tethys {

class Config;

struct TrainingOptions {
  Path output;  // the run's folder
  bool resume = false;
  bool dry_run = false;  // compile the step, run nothing, write nothing
  MachineOptions machine;
  DataPlaces places = {};
};

// All may be empty. They are called on the caller's thread, but for `stuck`.
struct TrainingCallbacks {
  std::function<void(const std::string& line)> line;
  std::function<void(int64_t done, int64_t total, double seconds_per_step)> progress;
  // Asked while text is indexed and after every step: the signal that wants the run to stop, or 0.
  std::function<int()> stop;
  // With true before work that may be broken off at any moment and in which `stop` is not asked, such as compiling: the
  // process may be ended then; with false when that is over.
  std::function<void(bool at_any_moment)> may_end;
  // A step did not end within its deadline; the process cannot go on.
  std::function<void(const Watchdog::Stuck&)> stuck;
  Progress indexing;
};

struct TrainingResult {
  int64_t step = 0;  // that were done, over all resumed runs
  int stopped_by = 0;
};

// UserError for what the configuration, the data or the folder does not allow; NotFiniteError; PjrtError.
TrainingResult run_training(const Config& config, const TrainingOptions& options, const TrainingCallbacks& callbacks);

}  // namespace tethys
