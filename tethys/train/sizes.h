// Sizes: whether the numbers of a configuration, each of which its option allows, make tensors whose bytes can be
// counted. Whether they fit into memory is another question (fit.h).
#pragma once

#include "train/step.h"

namespace tethys {

class Config;

// UserError, which names the options and the size, if a tensor of the step or the count of a run's tokens is beyond
// what 64 bits count.
void check_sizes(const Config& config, const BatchShape& shape);

}  // namespace tethys
