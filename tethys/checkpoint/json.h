// Reading JSON that comes from outside: a key given twice is refused (a second value would silently win), and so is
// nesting deeper than any of our files has.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "values/shape.h"

namespace tethys {

// UserErrors begin with `where`.
nlohmann::json parse_json(std::string_view text, const std::string& where);

// The member `key` of an object, as an integer of at least 0 (no fraction, no sign), a string, or a list of integers.
const nlohmann::json& member(const nlohmann::json& object, const char* key, const std::string& where);
uint64_t unsigned_member(const nlohmann::json& object, const char* key, const std::string& where);
int64_t count_member(const nlohmann::json& object, const char* key, const std::string& where);
std::string string_member(const nlohmann::json& object, const char* key, const std::string& where);
Dims dims_member(const nlohmann::json& object, const char* key, const std::string& where);

}  // namespace tethys
