// What nlohmann's JSON library says of a text that it refuses, for people.
#pragma once

#include <string_view>

namespace tethys {

// The message without the code that it begins with, "[json.exception.parse_error.101] ".
inline std::string_view without_json_code(std::string_view what) {
  const size_t end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

}  // namespace tethys
