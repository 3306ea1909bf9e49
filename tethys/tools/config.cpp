// tethys config: what a recipe and flags amount to.
#include <fmt/ostream.h>

#include "config/describe.h"
#include "config/flags.h"
#include "config/recipe.h"
#include "kernels/choices.h"
#include "models/registry.h"
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

// What options change in the tree that the model is built from.
void print_overrides(const Config& config, const Surroundings& surroundings) {
  const std::vector<Override> overrides = kernel_overrides(config);
  if (overrides.empty()) return;
  const Overridden done = apply_overrides(*architecture_of(config).configure(config), overrides);
  fmt::print(surroundings.out, "\noverrides of the model's tree\n{}", describe(done));
  for (const std::string& warning : done.warnings) fmt::print(surroundings.out, "warning: {}\n", warning);
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
  if (config.get_bool("toml")) {
    fmt::print(out, "{}", config_toml(config));
    return 0;
  }
  fmt::print(out, "{}", config_tree(config));
  print_overrides(config, invocation.surroundings);
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
