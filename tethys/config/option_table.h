// The one table of the options that a recipe sets and a flag overrides, in the order in which they print.
#pragma once

#include <vector>

#include "config/option.h"

namespace tethys {

const std::vector<Option>& option_table();

// The command's own options, then option_table().
std::vector<Option> with_training_options(std::vector<Option> own);

}  // namespace tethys
