// shown: text of others, such as a name, a path or a value, as it may stand in a message: on one line, with no byte
// that would do something to a terminal, and no longer than is read.
//
//   shown("a\nb\x1b[31m");             // "a\\nb\\x1b[31m"
//   shown(std::string(100000, '9'));   // "999…999… (98,976 bytes more) …999"
#pragma once

#include <string>
#include <string_view>

namespace tethys {

// What is shown already stays as it is.
std::string shown(std::string_view text);

}  // namespace tethys
