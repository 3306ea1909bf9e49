// ParameterGroup: which parameters of a model are trained with another learning rate or weight decay than the rest.
//
//   parse_parameter_group("**.bias: weight_decay=0", "--optimizer.groups");
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tethys {

class Config;

struct ParameterGroup {
  std::string glob;  // over full parameter names
  double lr_scale = 1;
  std::optional<double> weight_decay;  // absent: optimizer.weight_decay
  bool operator==(const ParameterGroup&) const = default;
};

// "GLOB: lr_scale=S weight_decay=W". UserError, opening with `where`, if it is not of that form.
ParameterGroup parse_parameter_group(std::string_view text, std::string_view where);

// Those of optimizer.groups in their order, and at the end the group ** of all that is left.
std::vector<ParameterGroup> parameter_groups(const Config& config);

}  // namespace tethys
