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
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width) {
  const size_t used = width_of(text);
  return text + std::string(used < width ? width - used : 0, ' ');
}

// Words in lines of at most kWidth columns, each line after `indent` columns; the first line's are there already.
std::string wrapped(const std::string& words, size_t indent) {
  constexpr size_t kWidth = 100;
  std::string text;
  size_t column = indent;
  for (size_t begin = 0; begin < words.size();) {
    const size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    const bool first = column == indent;
    if (!first && column + 1 + width_of(word) > kWidth) {
      text += "\n" + std::string(indent, ' ') + word;
      column = indent + width_of(word);
    } else {
      text += (first ? "" : " ") + word;
      column += width_of(word) + (first ? 0 : 1);
    }
    begin = end + 1;
  }
  return text;
}

std::string described(const Option& option) {
  const std::string what =
      fmt::format("{} ({}; default {})", option.meaning, expected_by(option), to_toml(option.standard));
  return fmt::format("  {}\n      {}\n", spelling(option), wrapped(what, 6));
}

// The names of a configuration's options, a paragraph for each section.
std::string names_by_section(const std::vector<Option>& options) {
  constexpr size_t kNames = 16;
  std::vector<std::string> sections;
  for (const Option& option : options) {
    const std::string section(section_of(option));
    if (!section.empty() && (sections.empty() || sections.back() != section)) sections.push_back(section);
  }
  std::string text;
  for (const std::string& section : sections) {
    std::vector<std::string_view> keys;
    for (const Option& option : options) {
      if (section_of(option) == section) keys.push_back(key_of(option));
    }
    text +=
        fmt::format("  {}{}\n", padded(section, kNames - 2), wrapped(fmt::format("{}", fmt::join(keys, " ")), kNames));
  }
  return text;
}

}  // namespace

std::string help_text(std::string_view usage, std::string_view summary, const std::vector<Option>& options,
                      std::string_view part) {
  std::string text = fmt::format("usage: {}\n\n{}\n", usage, summary);
  std::string_view section = "none yet";
  for (const Option& option : options) {
    const bool own = section_of(option).empty();
    if (!own && part != "all" && section_of(option) != part) continue;
    if (section_of(option) != section) {
      section = section_of(option);
      text += fmt::format("\n{}:\n", own ? "options" : section);
    }
    text += described(option);
  }
  if (!part.empty()) return text;
  return text +
         fmt::format("\nof the configuration, as --SECTION.OPTION; --help SECTION or --help all describes them:\n{}",
                     names_by_section(options));
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
