// TrainingState: the arrays that a run carries from step to step, donated to each.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/store.h"
#include "runtime/executor.h"
#include "train/setup.h"
#include "train/stored_state.h"

namespace tethys {

struct TrainingState {
  std::vector<Array> parameters, m, v;  // one each per stored parameter
  Array ok;                             // false once a loss or norm was not finite

  // In the order of StateValues::list, and back from the first of a step's results.
  std::vector<Array> list() const;
  static TrainingState from(const std::vector<Array>& list, size_t stored);
};

// Made on the device from the seed: initial values, and no momentum.
TrainingState initial_state(Executor& executor, const TrainingSetup& setup, uint64_t seed);

// All of it, as pieces_of gave it to a save.
TrainingState load_state(Checkpoint& checkpoint, Executor& executor, const TrainingSetup& setup);
// Its parameters, with no momentum; those whose name one of the globs matches keep their initial values, made from the
// seed. UserError for a glob that matches none.
TrainingState load_weights(Checkpoint& checkpoint, Executor& executor, const TrainingSetup& setup,
                           const std::vector<std::string>& excluded = {}, uint64_t seed = 0);

// The parameters alone, for what only runs the model. They may be of another floating-point dtype in the checkpoint.
std::vector<Array> load_parameters(Checkpoint& checkpoint, Executor& executor, const TrainingSetup& setup);

// The `ok` of a state in which all went well.
Array true_everywhere(Executor& executor);

std::vector<PieceSource> pieces_of(const TrainingState& state, const TrainingSetup& setup,
                                   CopyMemory* copies = nullptr);
// The parameters alone.
std::vector<PieceSource> weight_pieces_of(const TrainingState& state, const TrainingSetup& setup,
                                          CopyMemory* copies = nullptr);

// Whether a checkpoint holds parameters alone; a run cannot be resumed from it.
bool has_weights_only(const Checkpoint& checkpoint);

}  // namespace tethys
