#include "config/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
// Tables such as "[[[" reach an assertion of the parser; without it the parser reports them with line and column.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "config/config.h"

namespace tethys {
namespace {

std::string position(const Path& file, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", file.string(), source.begin.line, source.begin.column);
}

bool is_path(std::string_view text) { return text.find('/') != std::string_view::npos || text.ends_with(".toml"); }

std::vector<std::string> recipe_names(const Path& recipes) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(recipes, error)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// `where` opens the error if there is no such file; it is empty for a recipe that the user named.
Path file_of(std::string_view name, const Path& folder, const Path& recipes, const std::string& where) {
  const Path path = is_path(name) ? folder / name : recipes / (std::string(name) + ".toml");
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return path;
  if (is_path(name)) user_error("{}there is no recipe file {}", where, path.string());
  const std::vector<std::string> names = recipe_names(recipes);
  if (names.empty()) user_error("{}no recipe is named {}: the folder {} holds none", where, name, recipes.string());
  user_error("{}no recipe is named {}; the nearest is {}, and there are {}", where, name, nearest_name(name, names),
             fmt::join(names, ", "));
}

// All the elements as texts; nothing if one is something else.
std::optional<OptionValue> list_of(const toml::array& array) {
  std::vector<std::string> out;
  for (const toml::node& element : array) {
    const std::optional<std::string> value = element.value_exact<std::string>();
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

std::optional<OptionValue> value_of(const toml::node& node) {
  if (const auto value = node.value_exact<bool>()) return *value;
  if (const auto value = node.value_exact<int64_t>()) return *value;
  if (const auto value = node.value_exact<double>()) return *value;
  if (const auto value = node.value_exact<std::string>()) return *value;
  const toml::array* array = node.as_array();
  return array == nullptr ? std::nullopt : list_of(*array);
}

class Loader {
 public:
  Loader(Config& config, const Path& recipes) : config_(config), recipes_(recipes) {}

  void load(const Path& file) {
    chain_.push_back(file);
    toml::table table;
    try {
      table = toml::parse(read_file(file), file.string());
    } catch (const toml::parse_error& error) {
      user_error("{}: {}", position(file, error.source()), error.description());
    }
    if (const toml::node* base = table.get("base")) load_base(file, *base);
    for (const auto& [name, node] : table) {
      if (name.str() != "base") set_section(file, std::string(name.str()), node, position(file, name.source()));
    }
    chain_.pop_back();
  }

 private:
  void load_base(const Path& file, const toml::node& node) {
    const std::string where = position(file, node.source());
    const std::optional<std::string> name = node.value_exact<std::string>();
    if (!name) user_error("{}: base is a {}, expected the name or path of a recipe", where, kind_of(node));
    const Path base = file_of(*name, file.parent_path(), recipes_, where + ": ");
    for (const Path& user : chain_) {
      if (std::filesystem::equivalent(user, base)) {
        user_error("{}: {} builds on itself: {}", where, base.string(), text_of_chain(base));
      }
    }
    load(base);
  }

  std::string text_of_chain(const Path& end) const {
    std::string text;
    for (const Path& file : chain_) text += file.string() + " → ";
    return text + end.string();
  }

  void set_section(const Path& file, const std::string& section, const toml::node& node, const std::string& where) {
    const toml::table* table = node.as_table();
    const auto& options = config_.options();
    const bool known = std::any_of(options.begin(), options.end(),
                                   [&](const Option& option) { return section_of(option) == section; });
    if (!known && (table == nullptr || table->empty())) unknown_key(section, where);
    if (table == nullptr) user_error("{}: {} is a section, expected [{}] and its keys", where, section, section);
    for (const auto& [key, value] : *table) {
      set_value(file, section + "." + std::string(key.str()), value, position(file, key.source()));
    }
  }

  void set_value(const Path& file, const std::string& name, const toml::node& node, const std::string& where) {
    const Option* option = config_.find(name);
    if (option == nullptr) unknown_key(name, where);
    std::optional<OptionValue> value = value_of(node);
    if (!value) user_error("{}: {} is a {}, expected {}", where, name, kind_of(node), expected_by(*option));
    config_.set(name, std::move(*value),
                {Origin::Source::Recipe, fmt::format("{}:{}", file.string(), node.source().begin.line)});
  }

  [[noreturn]] void unknown_key(const std::string& name, const std::string& where) const {
    user_error("{}: unknown key {}; the nearest is {}", where, name, nearest_key(config_, name));
  }

  static std::string_view kind_of(const toml::node& node) {
    if (node.is_table()) return "table";
    if (node.is_array()) return "list with values that are not texts";
    if (node.is_number()) return "number";
    return node.is_boolean() ? "boolean" : "date or time";
  }

  Config& config_;
  const Path& recipes_;
  std::vector<Path> chain_;  // from the recipe that was asked for to the base that is being read
};

}  // namespace

std::string load_recipe(Config& config, std::string_view name_or_path, const Path& recipes) {
  const Path file = file_of(name_or_path, "", recipes, "");
  Loader(config, recipes).load(file);
  return file.stem().string();
}

}  // namespace tethys
