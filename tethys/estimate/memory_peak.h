// MemoryPeak: what a device's memory holds where a step needs most of it, by what it is for. Read off the plan that the
// compiler made; what is an activation follows from what depends on what, not from names.
//
//   const MemoryPeak peak = memory_peak(plan, {.state = 28, .arguments = 34, .loss = 28, .head = "output"});
//   peak.activations, peak.buffers[0].what
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/memory_plan.h"

namespace tethys {

// Arrays that are alike.
struct PeakBuffer {
  std::string use;     // "activation"
  std::string op;      // the instruction that it was made for
  std::string type;    // "bf16[126,1,1024,16384]"
  std::string module;  // of the model, layers as "*"; "" if the program does not say
  std::string name;    // the compiler's, of the first
  int64_t count = 0;
  int64_t bytes = 0;  // of one
};

struct MemoryPeak {
  // What the forward keeps for the backward: made from the batch, and either on the way to the loss and read by what is
  // not, or not on that way and made without the model's head.
  int64_t activations = 0;
  // Computed from the state alone: casts and gathers of parameters.
  int64_t weights = 0;
  // All else that is alive: gradients, and what one op leaves to the next.
  int64_t others = 0;
  std::vector<PeakBuffer> buffers;  // those that take most together come first
};

// Where a step's arguments and results are: the first `state` arguments are donated, the others are the batch.
struct StepLayout {
  int64_t state = 0;
  int64_t arguments = 0;
  size_t loss = 0;   // number of the result
  std::string head;  // what the program calls the last module before the loss
};

MemoryPeak memory_peak(const hlo::MemoryPlan& plan, const StepLayout& layout);

}  // namespace tethys
