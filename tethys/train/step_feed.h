// What a training step is given, and what it gives besides the next state.
#pragma once

#include <atomic>
#include <memory>

#include "base/clock.h"
#include "data/loader/batch.h"
#include "runtime/array.h"

namespace tethys {

struct StepFeed {
  int64_t step = 0;  // from 0
  double learning_rate = 0;
  const Batch& batch;
};

struct TrainingSetup;

// What a step is fed, in the order of its inputs (step_inputs): the step number and the learning rate,
std::vector<HostTensor> scalars_of(const StepFeed& feed, const TrainingSetup& setup);
// then tokens, labels, positions and segments [A,B,S], columns in setup.token_order.
std::vector<HostTensor> rows_of(const StepFeed& feed, const TrainingSetup& setup);

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
  std::shared_ptr<const DoneTime> done = nullptr;
};

}  // namespace tethys
