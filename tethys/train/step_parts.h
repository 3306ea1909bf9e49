// StepParts: a training step as programs of their own, between which the host may look at what there is: forward,
// backward and update, after a short one that counts labels; with several microbatches, one more that adds gradients.
//
//   StepParts parts(executor, setup);              // records and lowers
//   parts.compile();                               // takes its time; any thread
//   StepParts::DeviceBatch batch = parts.place(feed);
//   StepParts::Forward forward = parts.forward(state.parameters, batch, 0);
//   StepParts::Sums sums = parts.backward(state.parameters, batch, 0, std::move(forward));
//   StepOutcome outcome = parts.update(state, feed, std::move(sums));
//
// With `split_offload` the loops over layers run a layer at a time, and what the backward reads of the forward waits in
// the host's memory (runtime/staged.h).
//
// The numbers are those of the step as one program (train/step.h).
#pragma once

#include "runtime/staged.h"
#include "train/state.h"
#include "train/step_feed.h"
#include "transforms/lower.h"
#include "transforms/split.h"

namespace tethys {

class StepParts {
 public:
  // Both must outlive it.
  StepParts(Executor& executor, const TrainingSetup& setup);

  // PjrtError if the compiler refuses one of them.
  void compile();

  // What a step reads, on the devices.
  struct DeviceBatch {
    std::vector<std::vector<Array>> microbatches;  // tokens, labels, positions, segments of each
    Array inverse_count;                           // 1 / the labels that count
  };
  DeviceBatch place(const StepFeed& feed);

  struct Forward {
    std::vector<Array> outputs;    // the loss, summed over the microbatch and multiplied by the inverse count
    std::vector<Array> residuals;  // what the backward reads
    std::vector<Stream> streams;   // likewise, on the host
  };
  Forward forward(const std::vector<Array>& parameters, const DeviceBatch& batch, size_t microbatch);

  // The loss, then one gradient per stored parameter; they may be Partial.
  using Sums = std::vector<Array>;
  Sums backward(const std::vector<Array>& parameters, const DeviceBatch& batch, size_t microbatch, Forward forward);
  Sums add(Sums sums, Sums more);

  // Consumes the state and puts the next one in its place.
  StepOutcome update(TrainingState& state, const StepFeed& feed, Sums sums);

  // All of it.
  StepOutcome run(TrainingState& state, const StepFeed& feed);

  // Of the program that takes most on a device; compiled.
  const pjrt::MemoryStats& memory() const;
  std::vector<std::string> notes() const;
  std::string waits() const;

 private:
  struct Part {
    Program program;
    std::shared_ptr<const CompiledProgram> compiled = nullptr;
  };
  std::vector<const Program*> programs() const;
  Program make(const Graph& graph, const std::vector<int64_t>& aliases = {}) const;
  void record_microbatch_parts();
  void record_halves(const Split& halves, size_t inputs);
  void record_add(const std::vector<Port>& sums);
  void record_update_part(const std::vector<Port>& sums);
  std::vector<Array> arguments(const std::vector<Array>& parameters, const DeviceBatch& batch, size_t microbatch) const;

  Executor& executor_;
  const TrainingSetup& setup_;
  Capabilities capabilities_;
  Part count_, update_;
  StagedProgram forward_, backward_;
  std::optional<Part> add_;
  std::vector<size_t> forward_outputs_, backward_outputs_;  // which of the loss and the gradients
};

}  // namespace tethys
