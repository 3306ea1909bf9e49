#include "train/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "base/number.h"
#include "base/units.h"
#include "config/config.h"
#include "runtime/host_memory.h"
#include "train/helpful_flags.h"

namespace tethys {
namespace {

// Bytes of the parameters on all devices.
double parameter_bytes(const TrainingSetup& setup) {
  double bytes = 0;
  for (const StoredParameter& stored : setup.store) {
    bytes += static_cast<double>(local_type(stored.type, stored.placement, setup.mesh).bytes());
  }
  return bytes * static_cast<double>(setup.degrees.devices());
}

}  // namespace

int64_t memory_of_devices(const Config& config) {
  const bool cpu = config.get_string("device.platform") == "cpu";
  return cpu ? physical_memory() : std::numeric_limits<int64_t>::max();
}

double state_bytes(const TrainingSetup& setup) {
  return 3 * parameter_bytes(setup);  // a parameter and its two moments
}

double save_copy_bytes(const TrainingSetup& setup, const Config& config) {
  const bool copies = config.get_bool("checkpoint.enable") && config.get_string("checkpoint.async_mode") == "async";
  return copies ? state_bytes(setup) : 0;
}

void check_state_fits(const TrainingSetup& setup, int64_t physical, const Config& config) {
  const double needed = state_bytes(setup), there = static_cast<double>(physical);
  if (needed <= there) return;
  throw DoesNotFitError(
      fmt::format("parameters and optimizer state take {:.1f} GiB on {} of this machine, which has {:.1f} GiB "
                  "of memory; lower {}, {} or {}, or the number of replicas",
                  gib(needed), counted(setup.degrees.devices(), "device"), gib(there), config.cite("model.n_layers"),
                  config.cite("model.dim"), config.cite("model.vocab_size")));
}

void check_parameters_fit(const TrainingSetup& setup, int64_t physical, const Config& config,
                          const std::string& dtype_option) {
  const double needed = parameter_bytes(setup), there = static_cast<double>(physical);
  if (needed <= there) return;
  throw DoesNotFitError(
      fmt::format("the parameters take {:.1f} GiB on {} of this machine, which has {:.1f} GiB of memory; a narrower {} "
                  "takes less",
                  gib(needed), counted(setup.degrees.devices(), "device"), gib(there), config.cite(dtype_option)));
}

void check_step_fits(const pjrt::MemoryStats& step, const TrainingSetup& setup, int64_t physical,
                     const Config& config) {
  const int64_t devices = setup.degrees.devices();
  const auto on_all = [&](int64_t bytes) { return static_cast<double>(bytes) * static_cast<double>(devices); };
  const double copies = save_copy_bytes(setup, config);
  const double needed = on_all(step.total()) + copies, there = static_cast<double>(physical);
  if (needed <= there) return;
  throw DoesNotFitError(
      fmt::format("the step needs {:.1f} GiB on {} of this machine ({:.1f} of state and batch, {:.1f} of "
                  "temporaries, {:.1f} of the copy that is saved), which has {:.1f} GiB of memory; what would make it "
                  "smaller:\n  {}",
                  gib(needed), counted(devices, "device"), gib(on_all(step.arguments)), gib(on_all(step.temporaries)),
                  gib(copies), gib(there), fmt::join(helpful_flags(config, setup), "\n  ")));
}

void check_evaluation_fits(const pjrt::MemoryStats& program, const TrainingSetup& setup, int64_t physical,
                           const Config& config) {
  const auto on_all = [&](int64_t bytes) {
    return static_cast<double>(bytes) * static_cast<double>(setup.degrees.devices());
  };
  if (on_all(program.total()) <= static_cast<double>(physical)) return;
  throw DoesNotFitError(
      fmt::format("a batch needs {:.1f} GiB on {} of this machine ({:.1f} of parameters and rows, {:.1f} of "
                  "temporaries), which has {:.1f} GiB of memory; lower {} or {}",
                  gib(on_all(program.total())), counted(setup.degrees.devices(), "device"),
                  gib(on_all(program.arguments)), gib(on_all(program.temporaries)), gib(physical),
                  config.cite("training.local_batch_size"), config.cite("training.seq_len")));
}

void check_generation_fits(const GenerationPrograms& programs, int64_t physical, int64_t length, const Config& config) {
  if (programs.bytes() <= physical) return;
  throw DoesNotFitError(fmt::format(
      "a text of {} tokens needs {:.1f} GiB ({:.1f} of parameters and cache), and this machine has {:.1f} "
      "GiB of memory; take a shorter prompt or lower {}",
      length, gib(programs.bytes()), gib(programs.decode->memory().arguments), gib(physical), config.cite("length")));
}

}  // namespace tethys
