// The flags that would make a step smaller, for whoever finds that it does not fit: one table.
//
//   for (const std::string& flag : helpful_flags(config, setup)) …   // "--graph.remat full: activations are …"
#pragma once

#include <string>
#include <vector>

#include "train/setup.h"

namespace tethys {

class Config;

// Each as it may be given, with why; of those that there are, the ones that are not set yet.
std::vector<std::string> helpful_flags(const Config& config, const TrainingSetup& setup);

}  // namespace tethys
