// Globs over dotted names, as plans, parameter groups and overrides use them; with '/' they match paths.
//
//   *    any run of characters inside one component
//   **   any run of characters, across components; as a whole component it may also stand for none
//   ?    one character of a component
//
//   glob_match("layers.*.attention.wq", "layers.0.attention.wq");  // true
//   glob_match("**.wq", "wq");                                     // true
//   glob_match("layers.*", "layers.0.attention");                  // false
#pragma once

#include <string>
#include <string_view>

namespace tethys {

// Whether the pattern matches the whole name. Takes time pattern × name at most, whatever the pattern.
bool glob_match(std::string_view pattern, std::string_view name, char separator = '.');

// The name with a star for each component that is a number: "layers.*.attention.wq".
std::string with_stars(std::string_view name);

}  // namespace tethys
