// FaultFinder: runs a step op by op, loops iteration by iteration, looks at every result, and names the first that is
// not finite. The state stays as it is, so a step can be looked at before it is run or once it has failed.
//
//   FaultFinder finder(machine, executor.capabilities(), setup);
//   if (auto fault = finder.find(state, {step, learning_rate, batch})) …"dot of layers.1.feed_forward.w2 gives NaN"
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "train/machine.h"
#include "train/step_runner.h"

namespace tethys {

class FaultFinder {
 public:
  // `setup` must outlive it. The programs of the ops are kept from one step to the next.
  FaultFinder(const Machine& machine, const Capabilities& capabilities, const TrainingSetup& setup);

  // The first value that is not finite, in words, and before it what of the state was not. `state` is that before the
  // step. Nothing if all values are finite. `finite` is called with each op that is, in words.
  std::optional<std::string> find(const TrainingState& state, const StepFeed& feed,
                                  const std::function<void(const std::string&)>& finite = nullptr);

 private:
  const TrainingSetup& setup_;
  Executor executor_;
};

}  // namespace tethys
