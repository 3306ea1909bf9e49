// What the options kernels.* choose, as overrides of a model's config tree.
//
//   const Overridden done = apply_overrides(*tree, kernel_overrides(config));
#pragma once

#include <vector>

#include "config/override.h"

namespace tethys {

class Config;

// One for each option that names another kernel than the reference.
std::vector<Override> kernel_overrides(const Config& config);

}  // namespace tethys
