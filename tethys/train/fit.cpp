#include "train/fit.h"

#include <fmt/format.h>

#include "base/number.h"
#include "config/config.h"

namespace tethys {
namespace {

double gib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

}  // namespace

int64_t state_bytes(const TrainingSetup& setup) {
  int64_t elements = 0;
  for (const StoredParameter& stored : setup.store) {
    elements += local_type(stored.type, stored.placement, setup.mesh).elements();
  }
  // A parameter and its two moments.
  return 3 * elements * static_cast<int64_t>(size_of(setup.precision.storage)) * setup.degrees.devices();
}

void check_state_fits(const TrainingSetup& setup, int64_t physical, const Config& config) {
  const int64_t needed = state_bytes(setup);
  if (needed <= physical) return;
  throw DoesNotFitError(
      fmt::format("parameters and optimizer state take {:.1f} GiB on {} of this machine, which has {:.1f} GiB "
                  "of memory; lower {}, {} or {}, or the number of replicas",
                  gib(needed), counted(setup.degrees.devices(), "device"), gib(physical), config.cite("model.n_layers"),
                  config.cite("model.dim"), config.cite("model.vocab_size")));
}

void check_step_fits(const pjrt::MemoryStats& step, int64_t devices, int64_t physical, const Config& config) {
  const int64_t needed = step.total() * devices;
  if (needed <= physical) return;
  std::string fixes =
      fmt::format("lower {} or {}", config.cite("training.local_batch_size"), config.cite("training.seq_len"));
  if (config.get_string("graph.remat") != "full") fixes += ", recompute activations by --graph.remat full";
  if (!config.get_bool("graph.scan_layers")) fixes += ", loop over the layers by --graph.scan_layers";
  throw DoesNotFitError(
      fmt::format("the step needs {:.1f} GiB on {} of this machine ({:.1f} of state and batch, {:.1f} of "
                  "temporaries), which has {:.1f} GiB of memory; {}",
                  gib(needed), counted(devices, "device"), gib(step.arguments * devices),
                  gib(step.temporaries * devices), gib(physical), fixes));
}

}  // namespace tethys
