// tethys config: what a recipe and flags amount to.
#include <fmt/ostream.h>

#include "config/describe.h"
#include "config/flags.h"
#include "config/recipe.h"
#include "tools/commands.h"
#include "tools/locations.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  return with_training_options({
      bool_option("toml", false, "print a recipe that loads to these values"),
      bool_option("markdown", false, "print the page of all options instead"),
  });
}

int run(Invocation& invocation) {
  Config& config = invocation.config;
  std::ostream& out = invocation.surroundings.out;
  if (config.get_bool("markdown")) {
    fmt::print(out, "{}", options_markdown(option_table()));
    return 0;
  }
  if (!invocation.arguments.empty()) {
    const std::string& recipe = single_argument(invocation, kConfigCommand, "the recipe");
    load_recipe(config, recipe, recipes_folder(invocation.surroundings.executable));
  }
  check_config(config);
  fmt::print(out, "{}", config.get_bool("toml") ? config_toml(config) : config_tree(config));
  return 0;
}

}  // namespace

const Command kConfigCommand{
    "config",
    "[RECIPE] [--section.option VALUE]…",
    "print the effective value of every option, with where it came from",
    "  tethys config llama3_8b                           the recipe's values and the defaults\n"
    "  tethys config llama3_8b --optimizer.lr 1e-4       a flag wins over the recipe\n"
    "  tethys config my/recipe.toml --toml > all.toml    the same values as one recipe without a base\n"
    "  tethys config                                     the defaults\n",
    options,
    run,
};

}  // namespace tethys
