// StepRunner: one training step after the other, in the Executor's mode: as one program that is made beforehand, or
// while the step is recorded, op by op or as the program that its ops become.
//
//   StepRunner runner(executor, setup);          // graph mode: begins to compile
//   StepOutcome outcome = runner.run(state, {step, learning_rate, batch});   // returns at once
//   to_host(outcome.loss);                       // waits
#pragma once

#include <atomic>
#include <future>
#include <memory>

#include "base/clock.h"
#include "data/loader/batch.h"
#include "runtime/deferred.h"
#include "train/state.h"

namespace tethys {

struct StepFeed {
  int64_t step = 0;  // from 0
  double learning_rate = 0;
  const Batch& batch;
};

// When the device was done with a step, which the host may be behind or ahead of.
class DoneTime {
 public:
  void set(Clock::time_point time) { ticks_ = time.time_since_epoch().count(); }
  // `otherwise` while it has not been said.
  Clock::time_point get(Clock::time_point otherwise) const {
    const Clock::rep ticks = ticks_;
    return ticks == 0 ? otherwise : Clock::time_point(Clock::duration(ticks));
  }

 private:
  std::atomic<Clock::rep> ticks_ = 0;
};

struct StepOutcome {
  Array loss, norm;  // scalars; the norm is that before clipping
  std::shared_ptr<const DoneTime> done;
};

class StepRunner {
 public:
  // Both must outlive it. The compiler works on a thread of its own until the step is first needed.
  StepRunner(Executor& executor, const TrainingSetup& setup, DeferredOptions deferred = {});

  // Consumes the state and puts the next one in its place.
  StepOutcome run(TrainingState& state, const StepFeed& feed);

  // Waits for the compiler, and throws what it had to say: PjrtError.
  void wait() const {
    if (program_.valid()) program_.get();
  }

  // Of the compiled step on one device; nothing where it is not compiled beforehand.
  const pjrt::MemoryStats* memory() const { return program_.valid() ? &program_.get()->memory() : nullptr; }

  // What could not stay sharded in the step, a line each.
  const std::vector<std::string>& notes() const { return notes_; }

  // What the step waits for: Program::waits; "" where it is not compiled beforehand.
  const std::string& waits() const { return waits_; }

 private:
  StepOutcome run_program(TrainingState& state, std::vector<Array> arguments);
  StepOutcome run_recording(TrainingState& state, const std::vector<Array>& arguments);

  Executor& executor_;
  const TrainingSetup& setup_;
  DeferredOptions deferred_;
  std::shared_future<std::shared_ptr<const CompiledProgram>> program_;  // of graph mode
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
