// StepRunner: one training step after the other, in the Executor's mode: as one program that is made beforehand, or
// while the step is recorded, op by op or as the program that its ops become.
//
//   StepRunner runner(executor, setup);          // graph mode: begins to compile
//   StepOutcome outcome = runner.run(state, {step, learning_rate, batch});   // returns at once
//   to_host(outcome.loss);                       // waits
#pragma once

#include <future>
#include <memory>

#include "runtime/deferred.h"
#include "train/state.h"
#include "train/step_feed.h"
#include "train/step_parts.h"

namespace tethys {

class StepRunner {
 public:
  // Both must outlive it. The compiler works on a thread of its own until the step is first needed. UserError if the
  // step is another program than the one that the executor was given compiled.
  StepRunner(Executor& executor, const TrainingSetup& setup, DeferredOptions deferred = {});

  // Consumes the state and puts the next one in its place.
  StepOutcome run(TrainingState& state, const StepFeed& feed);

  // Waits for the compiler, and throws what it had to say: PjrtError.
  void wait() const {
    if (program_.valid()) program_.get();
    if (compiled_.valid()) compiled_.get();
  }

  // Of the compiled step on one device, of the largest of its programs; nothing where it is not compiled beforehand.
  const pjrt::MemoryStats* memory() const {
    wait();
    return parts_ ? &parts_->memory() : program_.valid() ? &program_.get()->memory() : nullptr;
  }

  // What could not stay sharded in the step, a line each.
  const std::vector<std::string>& notes() const { return notes_; }

  // What the step waits for: Program::waits; "" where it is not compiled beforehand.
  const std::string& waits() const { return waits_; }

 private:
  StepOutcome run_in_mode(TrainingState& state, const StepFeed& feed);
  StepOutcome run_program(TrainingState& state, std::vector<Array> arguments);
  StepOutcome run_recording(TrainingState& state, const std::vector<Array>& arguments);

  Executor& executor_;
  const TrainingSetup& setup_;
  DeferredOptions deferred_;
  std::shared_future<std::shared_ptr<const CompiledProgram>> program_;  // of graph mode
  std::optional<StepParts> parts_;                                      // of compile mode, and with split_offload
  std::shared_future<void> compiled_;                                   // they are
  std::vector<std::string> notes_;
  std::string waits_;
};

// The arguments of a step in the order of its inputs: the state, then what `feed` brings.
std::vector<Array> step_arguments(const TrainingState& state, const StepFeed& feed, Executor& executor,
                                  const TrainingSetup& setup);

// Records the step on inputs that `observer` gives their data.
StepResults record_running(RunObserver& observer, Graph& graph, const std::vector<Array>& arguments,
                           const TrainingSetup& setup);

}  // namespace tethys
