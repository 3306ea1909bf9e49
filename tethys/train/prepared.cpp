#include "train/prepared.h"

namespace tethys {

Prepared prepare(const Config& config, const MachineOptions& options) {
  Machine machine = open_machine(config, options);
  TrainingSetup setup = set_up(config, machine.devices);
  auto executor = make_executor(config, machine, setup.mesh, options);
  return {std::move(machine), std::move(setup), std::move(executor)};
}

}  // namespace tethys
