// Replay: a step that was not finite, run once more op by op on the state and batch that it had, loops iteration by
// iteration, with every result looked at.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "train/machine.h"
#include "train/step_runner.h"

namespace tethys {

// The first value that is not finite, in words: "divide of layers.0.attention gives NaN". `state` is that before the
// step. Nothing if all values are finite this time. `finite` is called with each op that is, in words.
std::optional<std::string> find_fault(const Machine& machine, const Capabilities& capabilities,
                                      const TrainingSetup& setup, const TrainingState& state, const StepFeed& feed,
                                      const std::function<void(const std::string&)>& finite);

}  // namespace tethys
