// A training step compiled for a slice that nobody needs to have: the same set-up and the same program as those of a
// run, without a client.
//
//   const CompiledStep step = compile_step(config, slice_named("v6e:16x16"), Plugin::load("libtpu.so"));
//   if (!step.fits()) …   step.memory, step.buffers, step.refusal
//
// One thread at a time for each call; several calls may run side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimate/memory_peak.h"
#include "estimate/tpu_kind.h"
#include "pjrt/device_info.h"
#include "pjrt/executable.h"
#include "pjrt/plugin.h"
#include "train/setup.h"

namespace tethys {

class Config;

// Bytes on one device, by what they are for.
struct StepMemory {
  int64_t parameters = 0;
  int64_t moments = 0;      // of the optimizer
  int64_t other_state = 0;  // what is kept besides
  int64_t batch = 0;        // with the scalars that change from step to step
  int64_t padding = 0;      // of all of these, for the device's tiles
  int64_t results = 0;      // that no donated argument makes room for
  // Where temporaries take most (estimate/memory_peak.h); these are 0 without the compiler's plan.
  int64_t activations = 0;
  int64_t weights = 0;      // cast or gathered
  int64_t temporaries = 0;  // gradients, what one op leaves to the next, and the gaps between all of these
  int64_t code = 0;

  int64_t arguments() const { return parameters + moments + other_state + batch + padding; }
  int64_t total() const { return arguments() + results + activations + weights + temporaries + code; }
};

struct CompiledStep {
  Slice slice;
  TrainingSetup setup;
  std::vector<CollectiveUse> collectives;  // as written, before the compiler
  size_t program_bytes = 0;                // of its text
  std::string content;                     // content_key of the same program as a run writes it
  std::vector<pjrt::DeviceInfo> devices;   // of the slice
  double lowering_seconds = 0;             // from the configuration to the text
  double compile_seconds = 0;
  StepMemory memory;
  std::vector<PeakBuffer> buffers;             // arguments and temporaries, those that take most first
  std::string refusal;                         // the compiler's words about a program too large; empty if it compiled
  std::optional<pjrt::Executable> executable;  // nothing where it was refused

  bool fits() const { return refusal.empty() && static_cast<double>(memory.total()) <= slice.kind->usable_hbm; }
};

// UserError if the mesh does not fill the slices, or the configuration is not one of graph mode. Needs no plugin.
void check_slice(const Config& config, const Slice& slice);

// UserError as check_slice, and if the compiler does not know an option.
CompiledStep compile_step(const Config& config, const Slice& slice, const std::shared_ptr<const pjrt::Plugin>& plugin);

}  // namespace tethys
