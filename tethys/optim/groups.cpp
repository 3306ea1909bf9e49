#include "optim/groups.h"

#include <algorithm>

#include "base/error.h"
#include "base/glob.h"

namespace tethys {

std::vector<GroupSettings> group_settings(const std::vector<ParameterGroup>& groups, double weight_decay,
                                          const std::vector<std::string>& names) {
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    const std::string& glob = groups[i].glob;
    const bool any = std::any_of(names.begin(), names.end(), [&](const auto& name) { return glob_match(glob, name); });
    if (!any) {
      user_error("optimizer.groups: the pattern {} matches no parameter; parameters have names like {}", glob,
                 names.empty() ? "none" : names[names.size() / 2]);
    }
  }
  std::vector<GroupSettings> result;
  for (const std::string& name : names) {
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return glob_match(g.glob, name); });
    require(group != groups.end(), "no parameter group for {}", name);
    result.push_back({group->lr_scale, group->weight_decay.value_or(weight_decay)});
  }
  return result;
}

}  // namespace tethys
