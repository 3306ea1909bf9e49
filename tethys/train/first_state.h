// The state that a run begins with: that of its newest checkpoint, other weights, or one made from the seed.
#pragma once

#include <functional>
#include <string>

#include "train/saved_run.h"
#include "train/state.h"

namespace tethys {

struct FirstState {
  int64_t step = 0;     // that were done
  TrainingState state;  // nothing where all steps are done
  std::string origin;   // a line of where it is from; empty: the seed
};

// `compile` is called once it is known that steps are to be done, and before the state is made: the compiler works
// meanwhile. UserError if the run cannot go on from its newest checkpoint, or not begin with the weights that
// checkpoint.initial_load_path names.
FirstState first_state(const SavedRun& run, bool resume, const std::function<void()>& compile);

}  // namespace tethys
