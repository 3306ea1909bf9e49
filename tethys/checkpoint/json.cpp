#include "checkpoint/json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/json_message.h"

namespace tethys {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 8;

bool is_count(const json& value) {
  return value.is_number_unsigned() &&
         value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

}  // namespace

json parse_json(std::string_view text, const std::string& where) {
  std::vector<std::set<std::string>> keys(kMaxDepth + 1);  // of the object that is open at each depth
  auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth >= kMaxDepth) user_error("{}: the JSON is nested deeper than {} levels", where, kMaxDepth);
    if (event == json::parse_event_t::object_start) keys[static_cast<size_t>(depth) + 1].clear();
    if (event == json::parse_event_t::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys[static_cast<size_t>(depth)].insert(key).second) user_error("{}: \"{}\" occurs twice", where, key);
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& e) {
    user_error("{}: not valid JSON: {}", where, without_json_code(e.what()));
  }
}

const json& member(const json& object, const char* key, const std::string& where) {
  if (!object.is_object()) user_error("{}: expected an object, got {}", where, object.type_name());
  const auto found = object.find(key);
  if (found == object.end()) user_error("{}: \"{}\" is missing", where, key);
  return *found;
}

uint64_t unsigned_member(const json& object, const char* key, const std::string& where) {
  const json& value = member(object, key, where);
  if (!value.is_number_unsigned()) {
    user_error("{}: \"{}\" must be an integer of at least 0, got {}", where, key, value.dump());
  }
  return value.get<uint64_t>();
}

int64_t count_member(const json& object, const char* key, const std::string& where) {
  const json& value = member(object, key, where);
  if (!is_count(value)) user_error("{}: \"{}\" must be an integer from 0 to 2^63-1, got {}", where, key, value.dump());
  return value.get<int64_t>();
}

std::string string_member(const json& object, const char* key, const std::string& where) {
  const json& value = member(object, key, where);
  if (!value.is_string()) user_error("{}: \"{}\" must be a string, got {}", where, key, value.dump());
  return value.get<std::string>();
}

Dims dims_member(const json& object, const char* key, const std::string& where) {
  const json& value = member(object, key, where);
  if (!value.is_array()) user_error("{}: \"{}\" must be a list of integers, got {}", where, key, value.dump());
  Dims dims;
  for (const json& d : value) {
    if (!is_count(d)) user_error("{}: \"{}\" must hold integers from 0 to 2^63-1, got {}", where, key, d.dump());
    dims.push_back(d.get<int64_t>());
  }
  return dims;
}

}  // namespace tethys
