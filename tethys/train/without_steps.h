// What is done in the place of training: the same set-up, and no step.
#pragma once

#include "train/training.h"

namespace tethys {

// Looks at the data, compiles the step, and says what memory it takes. UserError if the data cannot be read;
// DoesNotFitError if the step takes more than there is.
void dry_run(const Config& config, const TrainingOptions& options, const TrainingCallbacks& callbacks);

// Saves the initial values as a checkpoint of step 0: runs on any mesh that start from it begin with the same bits.
void create_seed_checkpoint(const Config& config, const TrainingOptions& options, const TrainingCallbacks& callbacks);

}  // namespace tethys
