#include "config/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/config.h"

namespace tethys {
namespace {

std::string_view key_of(const Option& option) {
  const std::string_view section = section_of(option);
  return std::string_view(option.name).substr(section.empty() ? 0 : section.size() + 1);
}

// What stands for the value in help; nothing for a switch.
std::string placeholder(const Option& option) {
  switch (option.type) {
    case OptionType::Bool: return "";
    case OptionType::Int: return "INT";
    case OptionType::Float: return "NUMBER";
    case OptionType::String: return "TEXT";
    case OptionType::Enum: return fmt::format("{}", fmt::join(option.choices, "|"));
    case OptionType::StringList: return "TEXT,…";
  }
  return "";
}

std::string spelling(const Option& option) {
  std::string text = flag_of(option);
  if (!option.alias.empty()) text += (option.alias.size() == 1 ? ", -" : ", --") + option.alias;
  const std::string value = placeholder(option);
  return value.empty() ? text : text + " " + value;
}

// Columns are counted in characters, of which UTF-8 may need several bytes.
std::string padded(const std::string& text, size_t width) {
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
  const size_t used = static_cast<size_t>(characters);
  return text + std::string(used < width ? width - used : 0, ' ');
}

}  // namespace

std::string help_text(std::string_view usage, std::string_view summary, const std::vector<Option>& options) {
  std::string text = fmt::format("usage: {}\n\n{}\n", usage, summary);
  std::string_view section = "none yet";
  for (const Option& option : options) {
    if (section_of(option) != section) {
      section = section_of(option);
      text += fmt::format("\n{}:\n", section.empty() ? "options" : section);
    }
    text += fmt::format("  {}\n      {} ({}; default {})\n", spelling(option), option.meaning, expected_by(option),
                        to_toml(option.standard));
  }
  return text;
}

std::string options_markdown(const std::vector<Option>& options) {
  std::string text =
      "# Options\n\nA recipe sets them in its sections, a flag (`--section.option VALUE`) wins over the recipe.\n";
  std::string_view section = "none yet";
  for (const Option& option : options) {
    if (section_of(option) != section) {
      section = section_of(option);
      text += fmt::format("\n## {}\n\n| option | takes | default | meaning |\n|---|---|---|---|\n",
                          section.empty() ? "of the command" : section);
    }
    const std::string alias = option.alias.empty() ? "" : fmt::format(" (`--{}`)", option.alias);
    text += fmt::format("| `{}`{} | {} | `{}` | {} |\n", key_of(option), alias, expected_by(option),
                        to_toml(option.standard), option.meaning);
  }
  return text;
}

std::string config_tree(const Config& config) {
  std::string text;
  std::string_view section;
  size_t key_width = 0, value_width = 0;
  for (const Option& option : config.options()) {
    if (section_of(option).empty()) continue;
    key_width = std::max(key_width, key_of(option).size());
    value_width = std::max(value_width, std::min<size_t>(to_toml(config.value(option.name)).size(), 40));
  }
  for (const Option& option : config.options()) {
    if (section_of(option).empty()) continue;
    if (section_of(option) != section) {
      section = section_of(option);
      text += fmt::format("{}\n", section);
    }
    text += fmt::format("  {}  {}  {}\n", padded(std::string(key_of(option)), key_width),
                        padded(to_toml(config.value(option.name)), value_width), config.origin(option.name).place);
  }
  return text;
}

std::string config_toml(const Config& config) {
  std::string text;
  std::string_view section;
  for (const Option& option : config.options()) {
    if (section_of(option).empty()) continue;
    if (section_of(option) != section) {
      text += fmt::format("{}[{}]\n", section.empty() ? "" : "\n", section_of(option));
      section = section_of(option);
    }
    text += fmt::format("{} = {}\n", key_of(option), to_toml(config.value(option.name)));
  }
  return text;
}

}  // namespace tethys
