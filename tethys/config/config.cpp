#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"

namespace tethys {
namespace {

std::string_view last_component(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// A wrong section counts as one edit, whatever its length, so that training.lr finds optimizer.lr.
size_t name_distance(std::string_view name, std::string_view option) {
  const size_t whole = edit_distance(name, option);
  return std::min(whole, edit_distance(last_component(name), last_component(option)) + 1);
}

const Option* nearest_option(const Config& config, std::string_view name, bool keys_only) {
  const Option* best = nullptr;
  size_t best_distance = std::numeric_limits<size_t>::max();
  for (const Option& option : config.options()) {
    if (keys_only && section_of(option).empty()) continue;
    size_t distance = name_distance(name, option.name);
    if (!keys_only && !option.alias.empty()) distance = std::min(distance, edit_distance(name, option.alias));
    if (distance < best_distance) {
      best = &option;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace

Config::Config(std::vector<Option> options) : options_(std::move(options)) {
  std::set<std::string> names;
  for (const Option& option : options_) {
    require(names.insert(option.name).second, "two options are named {}", option.name);
    require(option.alias.empty() || names.insert(option.alias).second, "two options are named {}", option.alias);
    try {
      entries_.push_back({checked_value(option, option.standard, "default"), {}});
    } catch (const UserError& error) {
      internal_error("{}", error.what());
    }
  }
}

const Option* Config::find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name || (!option.alias.empty() && option.alias == name)) return &option;
  }
  return nullptr;
}

size_t Config::index_of(std::string_view name) const {
  const Option* option = find(name);
  require(option != nullptr, "no option is named {}", name);
  return static_cast<size_t>(option - options_.data());
}

template <typename T>
const T& Config::get(std::string_view name) const {
  const T* value = std::get_if<T>(&entry(name).value);
  require(value != nullptr, "{} was read as another type than its own", name);
  return *value;
}

bool Config::get_bool(std::string_view name) const { return get<bool>(name); }
int64_t Config::get_int(std::string_view name) const { return get<int64_t>(name); }
double Config::get_float(std::string_view name) const { return get<double>(name); }
const std::string& Config::get_string(std::string_view name) const { return get<std::string>(name); }
const std::vector<std::string>& Config::get_strings(std::string_view name) const {
  return get<std::vector<std::string>>(name);
}

void Config::set(std::string_view name, OptionValue value, Origin origin) {
  const size_t index = index_of(name);
  OptionValue checked = checked_value(options_[index], std::move(value), origin.place);
  if (origin.source >= entries_[index].origin.source) entries_[index] = {std::move(checked), std::move(origin)};
}

std::string Config::cite(std::string_view name) const {
  return fmt::format("{} = {} ({})", options_[index_of(name)].name, to_toml(value(name)), origin(name).place);
}

std::string nearest_flag(const Config& config, std::string_view name) {
  const Option* option = nearest_option(config, name, false);
  return option == nullptr ? "" : flag_of(*option);
}

std::string nearest_key(const Config& config, std::string_view name) {
  const Option* option = nearest_option(config, name, true);
  return option == nullptr ? "" : option->name;
}

}  // namespace tethys
