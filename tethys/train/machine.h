// Machine: a client of the configured devices and the Executor on the mesh.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pjrt/error.h"
#include "runtime/executor.h"
#include "train/degrees.h"

namespace tethys {

class Config;
class SavedStep;

struct MachineOptions {
  std::string plugin;        // path of the PJRT plugin
  std::string cache_folder;  // of what can be made again; empty: nothing is kept
  std::string environment;   // what else decides the compiler's output, such as XLA_FLAGS
  std::shared_ptr<Tracer> tracer = nullptr;
  std::shared_ptr<const SavedStep> saved_step = nullptr;  // the step's program, compiled; null: it is to be compiled
};

struct Machine {
  std::shared_ptr<const pjrt::Client> client;
  int64_t devices = 1;  // to use: device.count, or else as many as the degrees ask for on cpu, and all elsewhere
};
// UserError if the degrees do not fit, the plugin is not one for the platform, or has too few devices.
Machine open_machine(const Config& config, const MachineOptions& options);

// What programs of the configured platform can do.
Capabilities capabilities_of(const Config& config);

std::unique_ptr<Executor> make_executor(const Config& config, const Machine& machine, const Mesh& mesh,
                                        const MachineOptions& options,
                                        std::optional<SavedProgram> saved = std::nullopt);

// How many virtual devices the plugin of device.platform must make; nothing where devices are real.
std::optional<int64_t> virtual_devices(const Config& config);

// "NAME=VALUE" of device.compile_options, the values typed by how they look.
pjrt::OptionOverrides compile_options_of(const Config& config);

// Throws a UserError in the place of `error` if that is the compiler's about one of device.compile_options.
void blame_compile_options(const Config& config, const pjrt::PjrtError& error);

}  // namespace tethys
