#include "config/option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/number.h"

namespace tethys {
namespace {

std::string expected_number(std::string_view noun, const OptionRange& range) {
  std::vector<std::string> limits;
  if (range.low == kSmallestOnDevice) {
    limits.emplace_back("above 0");
  } else if (std::isfinite(range.low)) {
    limits.push_back(fmt::format("{} {}", range.open_low ? "above" : "at least", range.low));
  }
  if (range.high == kLargestOnDevice) {
    limits.emplace_back("in the range of float32");
  } else if (std::isfinite(range.high)) {
    limits.push_back(fmt::format("{} {}", range.open_high ? "below" : "at most", range.high));
  }
  std::string text(noun);
  if (!limits.empty()) text += fmt::format(", {}", fmt::join(limits, " and "));
  if (range.also) text += fmt::format(", or {}", *range.also);
  return text;
}

bool in_range(double value, const OptionRange& range) {
  if (range.also && value == static_cast<double>(*range.also)) return true;
  const bool low = range.open_low ? value > range.low : value >= range.low;
  const bool high = range.open_high ? value < range.high : value <= range.high;
  return std::isfinite(value) && low && high;
}

// A basic string of TOML.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// The shortest text that reads back as the same double, and as a float, not an int.
std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

// Whether the value, of the option's own type, is one that the option takes.
bool allowed(const Option& option, const OptionValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return in_range(static_cast<double>(*number), option.range);
  if (const auto* number = std::get_if<double>(&value)) return in_range(*number, option.range);
  if (option.type != OptionType::Enum) return true;
  return std::find(option.choices.begin(), option.choices.end(), std::get<std::string>(value)) != option.choices.end();
}

[[noreturn]] void wrong_value(const Option& option, std::string_view got, std::string_view where) {
  user_error("{}: {} is {}, expected {}", where, option.name, got, expected_by(option));
}

}  // namespace

Option bool_option(std::string name, bool standard, std::string meaning) {
  return {std::move(name), OptionType::Bool, standard, std::move(meaning), {}, {}, {}};
}
Option int_option(std::string name, int64_t standard, OptionRange range, std::string meaning) {
  return {std::move(name), OptionType::Int, standard, std::move(meaning), {}, range, {}};
}
Option float_option(std::string name, double standard, OptionRange range, std::string meaning) {
  return {std::move(name), OptionType::Float, standard, std::move(meaning), {}, range, {}};
}
Option text_option(std::string name, std::string standard, std::string meaning) {
  return {std::move(name), OptionType::String, std::move(standard), std::move(meaning), {}, {}, {}};
}
Option enum_option(std::string name, std::string standard, std::vector<std::string> choices, std::string meaning) {
  return {std::move(name), OptionType::Enum, std::move(standard), std::move(meaning), std::move(choices), {}, {}};
}
Option text_list_option(std::string name, std::vector<std::string> standard, std::string meaning) {
  return {std::move(name), OptionType::StringList, std::move(standard), std::move(meaning), {}, {}, {}};
}

std::string_view section_of(const Option& option) {
  const size_t dot = option.name.find('.');
  return dot == std::string::npos ? std::string_view() : std::string_view(option.name).substr(0, dot);
}

std::string flag_of(const Option& option) {
  std::string flag = "--" + option.name;
  if (section_of(option).empty()) std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string expected_by(const Option& option) {
  switch (option.type) {
    case OptionType::Bool: return "true or false";
    case OptionType::Int: return expected_number("an int", option.range);
    case OptionType::Float:
      return expected_number(std::isfinite(option.range.high) ? "a number" : "a finite number", option.range);
    case OptionType::String: return "a text";
    case OptionType::Enum: return fmt::format("one of {}", fmt::join(option.choices, ", "));
    case OptionType::StringList: return option.repeats ? "a text, any number of times" : "a list of texts";
  }
  internal_error("option {} has no type", option.name);
}

std::string to_toml(const OptionValue& value) {
  struct {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return float_text(v); }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(const std::vector<std::string>& v) const {
      std::vector<std::string> parts;
      for (const std::string& text : v) parts.push_back(quoted(text));
      return fmt::format("[{}]", fmt::join(parts, ", "));
    }
  } writer;
  return std::visit(writer, value);
}

OptionValue checked_value(const Option& option, OptionValue value, std::string_view where) {
  const std::string got = to_toml(value);
  if (option.type == OptionType::Float && std::holds_alternative<int64_t>(value)) {
    value = static_cast<double>(std::get<int64_t>(value));
  }
  if (value.index() != option.standard.index() || !allowed(option, value)) wrong_value(option, got, where);
  return value;
}

OptionValue parsed_value(const Option& option, std::string_view text, std::string_view where) {
  const auto checked = [&](auto value) { return checked_value(option, std::move(value), where); };
  const auto number = [&](auto parsed) {
    if (!parsed) wrong_value(option, quoted(text), where);
    return *parsed;
  };
  switch (option.type) {
    case OptionType::Bool:
      if (text != "true" && text != "false") wrong_value(option, quoted(text), where);
      return text == "true";
    case OptionType::Int: return checked(number(parse_number<int64_t>(text)));
    case OptionType::Float: return checked(number(parse_number<double>(text)));
    case OptionType::String:
    case OptionType::Enum: return checked(std::string(text));
    case OptionType::StringList: {
      if (option.repeats) return checked(std::vector<std::string>{std::string(text)});
      const std::vector<std::string_view> parts = split_at_commas(text);
      return checked(std::vector<std::string>(parts.begin(), parts.end()));
    }
  }
  internal_error("option {} has no type", option.name);
}

}  // namespace tethys
