// Named values: the C API's key-value pairs (plugin attributes, client and topology options, cost analysis) as a map.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tethys::pjrt {

using NamedValue = std::variant<std::string, int64_t, std::vector<int64_t>, float, bool>;
using NamedValues = std::map<std::string, NamedValue>;

}  // namespace tethys::pjrt
