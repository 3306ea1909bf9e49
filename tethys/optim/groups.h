// What the parameter groups of a recipe (config/parameter_group.h) say of each parameter.
#pragma once

#include <string>
#include <vector>

#include "config/parameter_group.h"

namespace tethys {

struct GroupSettings {
  double lr_scale = 1;
  double weight_decay = 0;
  bool operator==(const GroupSettings&) const = default;
};

// One per name: that of the first group whose glob matches. The last group matches all names. UserError for a glob that
// matches none, except that of the last.
std::vector<GroupSettings> group_settings(const std::vector<ParameterGroup>& groups, double weight_decay,
                                          const std::vector<std::string>& names);

}  // namespace tethys
