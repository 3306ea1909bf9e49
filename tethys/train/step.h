// The training step as one graph: microbatches of forward and backward, the global gradient norm, clipping and AdamW.
//
//   RecordedStep step = record_training_step(*model, store, {.microbatches = 2, .rows = 8, .seq_len = 512}, options);
//   Program program = make_program(*step.graph, options.mesh, capabilities, step.aliases);
//
// Inputs: the state (parameters, first moments, second moments: one each per stored parameter; ok), then step number,
// learning rate, tokens, labels, positions, segments. Outputs: the state in the same order, then loss and gradient
// norm, then the gradients where they are asked for.
//
// The loss is the sum over valid labels of all ranks and microbatches divided by their count, which is counted first,
// so that gradients only add. `ok` is sticky: once a loss or norm is not finite it is false, and a step changes
// nothing.
#pragma once

#include <memory>
#include <vector>

#include "nn/parameter_store.h"
#include "optim/adamw.h"
#include "optim/groups.h"
#include "transforms/grad.h"

namespace tethys {

struct BatchShape {
  int64_t microbatches = 1;
  int64_t rows = 1;  // of a microbatch, over all ranks
  int64_t seq_len = 1;
};

struct StepOptions {
  Mesh mesh;
  AdamW adamw;
  double max_norm = 1;
  double expert_balance = 1e-3;  // train/balance.h; 0: off
  // Of each logical parameter, in the model's order; empty: no decay, scale 1.
  std::vector<GroupSettings> groups;
  RematPolicy remat;
  bool output_gradients = false;
};

// What changes from step to step and is kept: one value per stored parameter, and whether all went well so far.
struct StateValues {
  std::vector<Value> parameters, m, v;
  Value ok;  // bool[]

  std::vector<Value> list() const;
};

struct StepInputs {
  StateValues state;
  Value step;                                                 // s32[], from 0
  Value learning_rate;                                        // of at least float32
  Value tokens_ABS, labels_ABS, positions_ABS, segments_ABS;  // s32; A microbatches
};

// What a step adds up over its microbatches (train/gradients.h).
struct LossAndGradients {
  Value loss;
  // One per stored parameter, at least float32; of one that is not trained, s32, the sum of what the forwards left.
  std::vector<Value> gradients;
};

struct StepResults {
  StateValues state;
  Value loss, norm;              // the norm is that before clipping
  std::vector<Value> gradients;  // before clipping, one per stored parameter (train/gradients.h)
};

// The graph's inputs, with names and placements.
StepInputs step_inputs(Graph& graph, const std::vector<StoredParameter>& store, const BatchShape& shape,
                       const Mesh& mesh);

// Those of the state, the step number and the learning rate alone.
StepInputs update_inputs(Graph& graph, const std::vector<StoredParameter>& store, const Mesh& mesh);

// Those that the gradients are computed from: the parameters and the batch.
StepInputs gradient_inputs(Graph& graph, const std::vector<StoredParameter>& store, const BatchShape& shape,
                           const Mesh& mesh);

// Records the step on inputs that exist; in eager mode it runs as it is recorded.
StepResults record_step(LanguageModel& model, const std::vector<StoredParameter>& store, const StepInputs& inputs,
                        const StepOptions& options);

// What follows the gradients: their norm, clipping, AdamW.
StepResults record_update(LanguageModel& model, const std::vector<StoredParameter>& store, const StepInputs& inputs,
                          const LossAndGradients& sums, const StepOptions& options);

struct RecordedStep {
  std::shared_ptr<Graph> graph;
  std::vector<int64_t> aliases;  // the state is donated
};

RecordedStep record_training_step(LanguageModel& model, const std::vector<StoredParameter>& store,
                                  const BatchShape& shape, const StepOptions& options);

}  // namespace tethys
