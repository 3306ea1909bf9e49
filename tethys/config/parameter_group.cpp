#include "config/parameter_group.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "config/config.h"

namespace tethys {

ParameterGroup parse_parameter_group(std::string_view text, std::string_view where) {
  const auto fail = [&](std::string_view complaint) {
    user_error("{}: parameter group \"{}\": {}; expected \"GLOB: lr_scale=S weight_decay=W\" with either or both",
               where, text, complaint);
  };
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) fail("it has no colon");
  ParameterGroup group;
  std::istringstream(std::string(text.substr(0, colon))) >> group.glob;
  if (group.glob.empty()) fail("it has no pattern");

  static const Option scale = float_option("lr_scale", 1, on_device_or_zero(), "");
  static const Option decay = float_option("weight_decay", 0, on_device_or_zero(), "");
  std::istringstream settings{std::string(text.substr(colon + 1))};
  std::vector<std::string> seen;
  for (std::string setting; settings >> setting;) {
    const size_t equals = std::min(setting.find('='), setting.size());
    const std::string name = setting.substr(0, equals);
    if (equals == setting.size() || (name != scale.name && name != decay.name)) fail("unknown setting " + setting);
    for (const std::string& other : seen) {
      if (other == name) fail(name + " is set twice");
    }
    seen.push_back(name);
    const Option& option = name == scale.name ? scale : decay;
    const double value = std::get<double>(parsed_value(option, setting.substr(equals + 1), where));
    if (name == scale.name) group.lr_scale = value;
    if (name == decay.name) group.weight_decay = value;
  }
  if (seen.empty()) fail("it sets nothing");
  return group;
}

std::vector<ParameterGroup> parameter_groups(const Config& config) {
  std::vector<ParameterGroup> groups;
  for (const std::string& text : config.get_strings("optimizer.groups")) {
    groups.push_back(parse_parameter_group(text, config.origin("optimizer.groups").place));
  }
  groups.push_back({"**", 1, std::nullopt});
  return groups;
}

}  // namespace tethys
