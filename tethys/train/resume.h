// What a run that goes on may change since it last ran, by the configuration that it left behind.
#pragma once

#include <string>
#include <vector>

#include "train/run_folder.h"

namespace tethys {

class Config;

// A line for each option that differs from the last run's: "training.steps = 40 → 80"; none where that left no
// checkpoint, for then the run begins anew. UserError, which cites both values, if one of them is what the checkpoint's
// numbers are made by (the model, the dtype of its state, the seed), or where the checkpoints are.
std::vector<std::string> changes_since_last_run(const RunFolder& folder, const Config& config);

}  // namespace tethys
