// Flags: --section.option VALUE, --section.option=VALUE, --x, --no-x, --x=false. Dashes and underscores are alike; the
// elements of a list are separated by commas. A flag given twice takes its last value. After -- no argument is a flag.
#pragma once

#include <string>
#include <vector>

namespace tethys {

class Config;

// Sets the options that the arguments name and returns the other arguments in their order. UserError for a flag that
// the table does not have, which names the nearest; for one without its value, or with a value that it does not take.
std::vector<std::string> apply_flags(Config& config, const std::vector<std::string>& arguments);

}  // namespace tethys
