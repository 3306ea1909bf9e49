// tethys compile: a recipe's whole step compiled for a slice of TPUs that need not be there.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "base/error.h"
#include "base/units.h"
#include "config/recipe.h"
#include "estimate/step_report.h"
#include "tools/commands.h"
#include "tools/exit_status.h"
#include "tools/libtpu_environment.h"
#include "tools/locations.h"
#include "train/saved_step.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  return with_training_options({
      text_list_option("topology", {}, "slices to compile for, such as v6e:16x16; several are separated by commas"),
      int_option("num_slices", 1, between(1, 1024),
                 "slices of the topology, on one network: data-parallel ranks lie over them"),
      text_option("json", "", "file that gets all figures"),
      text_option("save", "",
                  "file that gets the compiled step of one recipe and one topology, which `tethys train "
                  "--device.executable FILE` loads"),
  });
}

// The configuration of each recipe: the flags hold for all of them.
struct Recipe {
  std::string name;
  Config config;
};

std::vector<Recipe> load_recipes(const Invocation& invocation) {
  if (invocation.arguments.empty()) {
    user_error("tethys compile needs a recipe: tethys compile llama3_8b --topology v6e:16x16");
  }
  std::vector<Recipe> recipes;
  for (const std::string& argument : invocation.arguments) {
    Recipe& recipe = recipes.emplace_back(Recipe{"", invocation.config});
    Config& config = recipe.config;
    recipe.name = load_recipe(config, argument, recipes_folder(invocation.surroundings.executable));
    if (config.get_string("device.platform") != "tpu") {
      if (config.origin("device.platform").source == Origin::Source::Flag) {
        user_error("{}: tethys compile is for TPUs; leave it out", config.cite("device.platform"));
      }
      config.set("device.platform", std::string("tpu"), {Origin::Source::Flag, "tethys compile"});
    }
    if (config.origin("device.executable").source == Origin::Source::Flag) {
      user_error("{} is for training; here the step is compiled, and --save FILE keeps it",
                 config.cite("device.executable"));
    }
    check_config(config);
  }
  return recipes;
}

// What would be found out only after the compiler has worked, or at the run that loads it.
void check_save(const Config& config, const std::vector<Recipe>& recipes, const std::vector<Slice>& slices) {
  const std::string& file = config.get_string("save");
  if (file.empty()) return;
  if (recipes.size() * slices.size() != 1) {
    user_error(
        "{}: a file holds one step, of one recipe on one topology, and these are {} and {}; call tethys compile once "
        "for each",
        config.cite("save"), recipes.size(), slices.size());
  }
  if (recipes[0].config.get_bool("graph.split_offload")) {
    user_error("{}: with {} the step is several programs, and a file holds one; leave one of them out",
               config.cite("save"), recipes[0].config.cite("graph.split_offload"));
  }
  require_writable(file);
}

void save(const Path& file, const Recipe& recipe, const CompiledStep& step, const pjrt::Plugin& plugin,
          const Surroundings& surroundings) {
  if (!step.fits()) {
    fmt::print(surroundings.out, "not saved: it does not fit\n");
    return;
  }
  StepIdentity identity = step_identity(recipe.config, plugin, to_string(step.slice), step.devices);
  identity.recipe = recipe.name;
  identity.saved_by = surroundings.version;
  identity.program = step.content;
  const std::string executable = step.executable->serialize();
  save_step(file, identity, executable);
  fmt::print(surroundings.out,
             "saved {}: {:.1f} MiB; on such a slice `tethys train {} --device tpu --device.executable {}` "
             "loads it\n",
             file.string(), static_cast<double>(executable.size()) / kMiB, recipe.name, file.string());
}

std::vector<Slice> slices_of(const Config& config) {
  std::vector<Slice> slices;
  for (const std::string& topology : config.get_strings("topology")) {
    slices.push_back(slice_named(topology, config.get_int("num_slices")));
  }
  if (slices.empty()) user_error("tethys compile needs --topology, such as v6e:16x16 or v5p:8x8x8");
  return slices;
}

int run(Invocation& invocation) {
  const Surroundings& surroundings = invocation.surroundings;
  const std::string& file = invocation.config.get_string("json");
  if (!file.empty()) require_writable(file);
  const std::vector<Slice> slices = slices_of(invocation.config);
  const std::vector<Recipe> recipes = load_recipes(invocation);
  for (const Recipe& recipe : recipes) {  // before what takes minutes
    for (const Slice& slice : slices) check_slice(recipe.config, slice);
  }
  check_save(invocation.config, recipes, slices);
  set_libtpu_environment();
  const auto plugin = pjrt::Plugin::load(plugin_path(recipes[0].config, surroundings.executable));
  const std::string& saved = invocation.config.get_string("save");
  std::vector<StepReport> reports;
  bool all_fit = true;
  for (const Recipe& recipe : recipes) {
    const auto& [name, config] = recipe;
    for (const Slice& slice : slices) {
      CompiledStep step = compile_step(config, slice, plugin);
      for (const std::string& warning : step.setup.warnings) fmt::print(surroundings.out, "warning: {}\n", warning);
      reports.push_back(report_of(name, config, step));
      all_fit = all_fit && reports.back().fits;
      fmt::print(surroundings.out, "{}\n", report_text(reports.back()));
      if (!saved.empty()) save(saved, recipe, step, *plugin, surroundings);
      surroundings.out.flush();
    }
  }
  fmt::print(surroundings.out, "{}", report_table(reports));
  if (!file.empty()) write_file(file, report_json(reports));
  return all_fit ? kDone : kDoesNotFit;
}

}  // namespace

const Command kCompileCommand{
    "compile",
    "RECIPE… --topology KIND:CHIPS[,…] [--section.option VALUE]…",
    "compile a step for TPUs that need not be there: does it fit, what would it cost",
    "  tethys compile llama3_8b --topology v6e:16x16\n"
    "  tethys compile llama3_8b llama3_70b --topology v6e:16x16,v5p:4x4x8 --json compiled.json\n"
    "  tethys compile llama3_405b_v6e --topology v6e:16x16 --num_slices 2\n"
    "  tethys compile llama3_8b --topology v6e:4x4 --save 8b.step     then, on such a slice and with the same "
    "options:\n"
    "      tethys train llama3_8b --device tpu --device.executable 8b.step\n\n"
    "The program is that of a run in graph mode, compiled by libtpu, which `make setup-tpu` installs; this machine "
    "needs\n"
    "no TPU. Printed are whether it fits and by how much, the memory of a device by kind, FLOPs, collectives by mesh\n"
    "axis and what is computed meanwhile, the compiler's cycles by op and by module, and an estimate of a step's "
    "time;\n"
    "then a table of all recipes and topologies. Parameters are sharded over all devices of the topology unless the\n"
    "recipe or a flag says otherwise. --save takes one recipe and one topology. Exit status: 0 all fit, 2 a mistake in "
    "the input, 3 one does not fit.\n",
    options,
    run,
};

}  // namespace tethys
