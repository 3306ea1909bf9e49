// tethys inspect: what a recipe's model is made of, or what tensors lie in files. Needs no device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "base/glob.h"
#include "base/number.h"
#include "base/units.h"
#include "config/recipe.h"
#include "ops/tensor.h"
#include "tools/commands.h"
#include "tools/locations.h"
#include "tools/stored_tensors.h"
#include "train/machine.h"
#include "train/setup.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  return with_training_options(
      {bool_option("collectives", false, "list what a step sends between devices: kind, mesh axes, bytes, for what")});
}

// Parameters that differ only in the number of their layer: one line of the table.
struct Row {
  std::string name;  // "layers.*.attention.wq.weight"
  Dims dims;
  int64_t count = 0;
  bool trained = true;
};

std::vector<Row> rows_of(LanguageModel& model) {
  std::vector<Row> rows;
  model.for_each_parameter([&](Parameter& parameter) {
    const std::string name = with_stars(parameter.name());
    for (Row& row : rows) {
      if (row.name == name && row.dims == parameter.dims()) {
        ++row.count;
        return;
      }
    }
    rows.push_back({name, parameter.dims(), 1, parameter.trained()});
  });
  return rows;
}

std::string parameter_table(LanguageModel& model) {
  std::string text;
  for (const Row& row : rows_of(model)) {
    text += fmt::format("  {:<36} {:>4} × {:<18} {:>18}{}\n", row.name, row.count, to_string(row.dims),
                        with_commas(row.count * element_count(row.dims)),
                        row.trained ? "" : "  not trained, and not counted");
  }
  return text;
}

// Of one device: as the parameter is stored, or as it is used where gradients are reduced once a step.
int64_t elements_of_gradient(const StoredParameter& stored, const Mesh& mesh) {
  const Parametrization& p = stored.key()->parametrization();
  if (!p.unreduced) return local_type(stored.type, stored.placement, mesh).elements();
  const TensorType used{p.compute_dtype, p.compute_dims};
  return static_cast<int64_t>(stored.members.size()) * local_type(used, p.compute, mesh).elements();
}

std::string memory_table(const TrainingSetup& setup) {
  int64_t parameters = 0, gradients = 0;
  for (const StoredParameter& stored : setup.store) {
    const TensorType local = local_type(stored.type, stored.placement, setup.mesh);
    parameters += local.bytes();
    if (stored.trained())
      gradients += elements_of_gradient(stored, setup.mesh) * size_of(wide(setup.precision.gradient));
  }
  const std::pair<const char*, int64_t> kinds[] = {
      {"parameters", parameters}, {"optimizer", 2 * parameters}, {"gradients", gradients}};
  std::string text;
  int64_t total = 0;
  for (const auto& [kind, bytes] : kinds) {
    text += fmt::format("  {:<12} {:>18} bytes  {:10.3f} GiB\n", kind, with_commas(bytes), gib(bytes));
    total += bytes;
  }
  return text + fmt::format("  {:<12} {:>18} bytes  {:10.3f} GiB\n", "together", with_commas(total), gib(total));
}

std::string collectives_table(const TrainingSetup& setup) {
  const RecordedStep step = record_training_step(*setup.model, setup.store, setup.shape, setup.step);
  const Program program = make_program(*step.graph, setup.mesh, {}, step.aliases, setup.gathers);
  if (program.collectives.empty()) return "  none: one device\n";
  std::string text = fmt::format("  {:<16} {:<18} {:<40} {:<26} {:>7} {:>12}\n", "kind", "mesh axes", "for", "of",
                                 "times", "MiB together");
  int64_t bytes = 0;
  for (const CollectiveUse& use : program.collectives) {
    text += fmt::format("  {:<16} {:<18} {:<40} {:<26} {:>7} {:>12.3f}\n", use.kind, use.axes, use.scope,
                        to_string(use.type), use.runs, static_cast<double>(use.bytes()) / kMiB);
    bytes += use.bytes();
  }
  return text + fmt::format("  together {:.3f} MiB\n", static_cast<double>(bytes) / kMiB);
}

int run(Invocation& invocation) {
  Config& config = invocation.config;
  const std::string& what = single_argument(invocation, kInspectCommand, "the recipe");
  if (is_stored(what)) {
    print_stored(invocation.surroundings.out, what);
    return 0;
  }
  const std::string name = load_recipe(config, what, recipes_folder(invocation.surroundings.executable));
  check_config(config);
  const int64_t count = config.get_int("device.count");
  const TrainingSetup setup = set_up(config, count == -1 ? std::nullopt : std::optional(count));
  const FlopsModel flops = flops_model_of(config, *setup.model);
  const int64_t seq_len = setup.shape.seq_len;
  std::ostream& out = invocation.surroundings.out;
  fmt::print(out, "{}: {}\n{}\n", name, parameters_text(flops), parameter_table(*setup.model));
  fmt::print(out, "memory of a device (mesh: {}; {} stored, {} computed), activations and batch apart\n{}\n",
             to_string(setup.mesh), name_of(setup.precision.storage), name_of(setup.precision.compute),
             memory_table(setup));
  for (const std::string& warning : setup.warnings) fmt::print(out, "warning: {}\n\n", warning);
  fmt::print(out, "FLOPs per token in rows of {}, forward and backward\n", with_commas(seq_len));
  fmt::print(out, "  {:>18}  all scores counted (torchtitan)\n",
             with_commas(static_cast<int64_t>(flops_per_token(flops, seq_len))));
  fmt::print(out, "  {:>18}  the causal half of them (MaxText)\n",
             with_commas(static_cast<int64_t>(flops_per_token(flops, seq_len, CountedScores::Causal))));
  if (config.get_bool("collectives")) {
    fmt::print(out, "\ncollectives of a step, as one device (mesh: {}) sees them\n{}", to_string(setup.mesh),
               collectives_table(setup));
  }
  return 0;
}

}  // namespace

const Command kInspectCommand{
    "inspect",
    "RECIPE [--section.option VALUE]… | PATH",
    "print a model's parameters, memory and FLOPs, or the tensors in files; needs no device",
    "  tethys inspect llama3_8b\n"
    "  tethys inspect llama3_70b --parallelism.data_parallel_shard_degree 64     memory of each of 64 devices\n"
    "  tethys inspect llama3_8b --collectives --parallelism.data_parallel_shard_degree 8\n"
    "                                                                            what a step sends between devices\n"
    "  tethys inspect model.safetensors                                          names, dtypes, shapes and sizes\n"
    "  tethys inspect outputs/llama3_debugmodel                                  those of a run's newest checkpoint\n",
    options,
    run,
};

}  // namespace tethys
