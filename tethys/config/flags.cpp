#include "config/flags.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/config.h"

namespace tethys {
namespace {

struct Flag {
  std::string given;  // as it was written, without its value: "--no-resume"
  const Option* option = nullptr;
  std::optional<std::string> value;
};

[[noreturn]] void unknown_flag(const Config& config, const std::string& given, const std::string& name) {
  std::vector<std::string> inside;
  for (const Option& option : config.options()) {
    if (section_of(option) == name) inside.push_back(flag_of(option));
  }
  if (!inside.empty()) user_error("{} is a section; its flags are {}", given, fmt::join(inside, ", "));
  const std::string nearest = nearest_flag(config, name);
  user_error("unknown flag {}{}", given, nearest.empty() ? "" : "; the nearest is " + nearest);
}

// The negative of a flag is one only if the flag itself is known.
Flag read_flag(const Config& config, const std::string& argument) {
  const size_t equals = std::min(argument.find('='), argument.size());
  Flag flag{argument.substr(0, equals), nullptr, std::nullopt};
  if (equals < argument.size()) flag.value = argument.substr(equals + 1);

  const size_t dashes = std::min(flag.given.find_first_not_of('-'), flag.given.size());
  std::string name = flag.given.substr(dashes);
  std::replace(name.begin(), name.end(), '-', '_');
  const bool is_short = name.size() == 1;
  if (dashes == (is_short ? 1 : 2)) flag.option = config.find(name);
  if (flag.option == nullptr && flag.given.starts_with("--no-")) {
    name = name.substr(3);
    flag.option = config.find(name);
    if (flag.option != nullptr) {
      if (flag.option->type != OptionType::Bool) {
        user_error("{}: {} is no switch; it takes {}", flag.given, flag.option->name, expected_by(*flag.option));
      }
      if (flag.value) user_error("{} takes no value; write {}={}", flag.given, flag_of(*flag.option), *flag.value);
      flag.value = "false";
    }
  }
  if (flag.option == nullptr) unknown_flag(config, flag.given, name);
  return flag;
}

void set_flag(Config& config, const Flag& flag) {
  OptionValue value = parsed_value(*flag.option, *flag.value, flag.given);
  if (flag.option->repeats && config.origin(flag.option->name).source == Origin::Source::Flag) {
    std::vector<std::string> texts = config.get_strings(flag.option->name);
    texts.push_back(std::get<std::vector<std::string>>(value).at(0));
    value = std::move(texts);
  }
  config.set(flag.option->name, std::move(value), {Origin::Source::Flag, flag.given});
}

}  // namespace

std::vector<std::string> apply_flags(Config& config, const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (arguments[i].size() < 2 || arguments[i][0] != '-') {
      rest.push_back(arguments[i]);
      continue;
    }
    Flag flag = read_flag(config, arguments[i]);
    if (!flag.value) {
      const std::string* next = i + 1 < arguments.size() ? &arguments[i + 1] : nullptr;
      if (flag.option->type == OptionType::Bool) {
        const bool says = next != nullptr && (*next == "true" || *next == "false");
        flag.value = says ? *next : "true";
        i += says;
      } else {
        if (next == nullptr || next->starts_with("--")) {
          user_error("{} needs a value: {}", flag.given, expected_by(*flag.option));
        }
        flag.value = *next;
        ++i;
      }
    }
    set_flag(config, flag);
  }
  return rest;
}

}  // namespace tethys
