// Config: the value of every option of a table, each with where it came from. Flags win over recipes, recipes over
// defaults, whichever is set first; between two of the same source the later wins.
//
// It owns its table and values and is freely copied. Reading from several threads is fine.
//
//   Config config(with_training_options({}));
//   std::vector<std::string> rest = apply_flags(config, {"llama3_8b", "--training.steps=10"});   // {"llama3_8b"}
//   load_recipe(config, rest[0], "recipes");
//   check_config(config);
//   config.get_int("training.steps");        // 10
//   config.origin("training.steps").place;   // "--training.steps"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"
#include "config/option_table.h"

namespace tethys {

struct Origin {
  enum class Source : uint8_t { Default, Recipe, Flag };
  Source source = Source::Default;
  std::string place = "default";  // "recipes/llama3_8b.toml:12", "--training.steps"
};

class Config {
 public:
  // Every option at its default. InternalError if two options have one name or a default is not one of its values.
  explicit Config(std::vector<Option> options = option_table());

  const std::vector<Option>& options() const { return options_; }
  // The option of that name or alias; null if there is none.
  const Option* find(std::string_view name) const;

  // A name that the table does not have, or a type that is not the option's, is an InternalError.
  bool get_bool(std::string_view name) const;
  int64_t get_int(std::string_view name) const;
  double get_float(std::string_view name) const;
  const std::string& get_string(std::string_view name) const;
  const std::vector<std::string>& get_strings(std::string_view name) const;

  const OptionValue& value(std::string_view name) const { return entry(name).value; }
  const Origin& origin(std::string_view name) const { return entry(name).origin; }

  // UserError, opening with the origin's place, if the option does not take the value.
  void set(std::string_view name, OptionValue value, Origin origin);

  // "training.steps = 0 (recipes/x.toml:3)": how an error about a combination of values names one of them.
  std::string cite(std::string_view name) const;

 private:
  struct Entry {
    OptionValue value;
    Origin origin;
  };

  size_t index_of(std::string_view name) const;
  const Entry& entry(std::string_view name) const { return entries_[index_of(name)]; }
  template <typename T>
  const T& get(std::string_view name) const;

  std::vector<Option> options_;
  std::vector<Entry> entries_;
};

// The option whose name is nearest to one that is not in the table, as a flag ("--training.steps") or, for recipes, a
// key ("training.steps"). A name that is right but for its section is nearest.
std::string nearest_flag(const Config& config, std::string_view name);
std::string nearest_key(const Config& config, std::string_view name);

// The size of one head: model.head_dim, or where that is open each head's share of the width.
int64_t head_dim_of(const Config& config);

// Checks what one option alone cannot say: heads that divide the width, a row no longer than the context, groups that
// parse. UserError that cites the values and names a fix. What depends on the mesh is checked where it is built.
void check_config(const Config& config);

}  // namespace tethys
