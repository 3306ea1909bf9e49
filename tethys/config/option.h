// Option: one row of a table of options. Help, checks, config printing and docs all come from the rows, so an option
// is described once. Plain values.
//
//   std::vector<Option> options = with_training_options({text_option("output", "", "folder of the run")});
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tethys {

enum class OptionType : uint8_t { Bool, Int, Float, String, Enum, StringList };

// An Enum is held as its string.
using OptionValue = std::variant<bool, int64_t, double, std::string, std::vector<std::string>>;

// The numbers that an option takes: from low to high, each included unless open, and besides them `also`.
struct OptionRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;
  bool open_high = false;
  std::optional<int64_t> also = std::nullopt;
};

struct Option {
  std::string name;  // "training.steps", or without a section for an option of one command: "dry_run"
  OptionType type = OptionType::String;
  OptionValue standard;  // the default
  std::string meaning;
  std::vector<std::string> choices;  // of Enum
  OptionRange range;                 // of Int and Float
  std::string alias;                 // a shorter flag: "mode" for graph.mode
  bool repeats = false;              // of StringList: each flag adds one text, as it is, commas and all
};

Option bool_option(std::string name, bool standard, std::string meaning);
Option int_option(std::string name, int64_t standard, OptionRange range, std::string meaning);
Option float_option(std::string name, double standard, OptionRange range, std::string meaning);
Option text_option(std::string name, std::string standard, std::string meaning);
Option enum_option(std::string name, std::string standard, std::vector<std::string> choices, std::string meaning);
Option text_list_option(std::string name, std::vector<std::string> standard, std::string meaning);

inline OptionRange at_least(double low) { return {.low = low}; }
inline OptionRange above(double low) { return {.low = low, .open_low = true}; }
inline OptionRange between(double low, double high) { return {.low = low, .high = high}; }
inline OptionRange from_below(double low, double high) { return {.low = low, .high = high, .open_high = true}; }
// At least `low`, or exactly `also`.
inline OptionRange at_least_or(double low, int64_t also) { return {.low = low, .also = also}; }

// What becomes float32 or bfloat16 on a device: neither has larger numbers, nor smaller ones of full precision.
inline constexpr double kSmallestOnDevice = 1.18e-38, kLargestOnDevice = 3.38e38;
inline OptionRange on_device() { return between(kSmallestOnDevice, kLargestOnDevice); }
inline OptionRange on_device_or_zero() { return {.low = kSmallestOnDevice, .high = kLargestOnDevice, .also = 0}; }

// "training" of "training.steps"; empty without a section.
std::string_view section_of(const Option& option);
// "--training.steps"; for an option of one command with dashes: "--dry-run".
std::string flag_of(const Option& option);

// What the option takes: "an int, at least 1", "one of eager, graph", "true or false".
std::string expected_by(const Option& option);

// As the value would stand in a TOML file: 5, 0.1, "text", ["a", "b"].
std::string to_toml(const OptionValue& value);

// The value as the option's own type: an int becomes the float of a Float.
// UserError, opening with `where`, if the type, the choice or the range is wrong.
OptionValue checked_value(const Option& option, OptionValue value, std::string_view where);

// The value of a flag's text; the elements of a list are separated by commas. UserError as checked_value.
OptionValue parsed_value(const Option& option, std::string_view text, std::string_view where);

}  // namespace tethys
