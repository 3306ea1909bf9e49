// Prepared: all that a configuration needs before anything is computed: the machine, the setup on it, and an executor.
//
//   const Prepared prepared = prepare(config, options);
//   StepRunner runner(*prepared.executor, prepared.setup);
#pragma once

#include <memory>

#include "train/machine.h"
#include "train/setup.h"

namespace tethys {

struct Prepared {
  Machine machine;
  TrainingSetup setup;
  std::unique_ptr<Executor> executor;
};

// UserError as of open_machine, set_up and saved_program.
Prepared prepare(const Config& config, const MachineOptions& options);

}  // namespace tethys
