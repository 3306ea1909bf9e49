#include "train/prepared.h"

#include "train/saved_step.h"

namespace tethys {

Prepared prepare(const Config& config, const MachineOptions& options) {
  Machine machine = open_machine(config, options);
  TrainingSetup setup = set_up(config, machine.devices);
  std::optional<SavedProgram> saved;
  if (options.saved_step) saved = saved_program(options.saved_step, config, *machine.client);
  auto executor = make_executor(config, machine, setup.mesh, options, std::move(saved));
  return {std::move(machine), std::move(setup), std::move(executor)};
}

}  // namespace tethys
