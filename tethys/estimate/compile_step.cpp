#include "estimate/compile_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "base/temporary_folder.h"
#include "base/units.h"
#include "config/config.h"
#include "pjrt/error.h"
#include "pjrt/topology.h"
#include "runtime/program_cache.h"
#include "train/compiler_flags.h"
#include "train/machine.h"
#include "train/step.h"

namespace tethys {
namespace {

constexpr const char* kReplicate = "parallelism.data_parallel_replicate_degree";
constexpr const char* kShard = "parallelism.data_parallel_shard_degree";
constexpr const char* kContext = "parallelism.context_parallel_degree";
constexpr const char* kTensor = "parallelism.tensor_parallel_degree";

void add_arguments(CompiledStep& step, const Program& program, size_t stored) {
  struct Kind {
    const char* use;
    int64_t& bytes;
  };
  StepMemory& memory = step.memory;
  const Kind kinds[] = {{"parameter", memory.parameters},
                        {"optimizer", memory.moments},
                        {"other state", memory.other_state},
                        {"batch", memory.batch}};
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Port& port = program.inputs[i];
    const TensorType type = local_type(port.type, port.placement, program.mesh);
    const Kind& kind = kinds[i < stored ? 0 : i < 3 * stored ? 1 : program.aliases.at(i) >= 0 ? 2 : 3];
    kind.bytes += type.bytes();
    step.buffers.push_back({kind.use, "argument", to_string(type), port.name, "", 1, type.bytes()});
  }
}

void add_planned(StepMemory& memory, const pjrt::MemoryStats& planned) {
  memory.padding = std::max<int64_t>(planned.arguments - memory.arguments(), 0);
  memory.results = planned.outputs - planned.aliased;
  memory.temporaries = planned.temporaries;
  memory.code = planned.generated_code;
}

// The flags by which the compiler writes its plan of the memory, also of a program that does not fit, and where to.
constexpr const char* kPlanFolder = "xla_dump_to";
constexpr const char* kPlanFormat = "xla_dump_hlo_as_proto";
// The projection to the vocabulary, in every model.
constexpr const char* kHead = "output";
constexpr std::string_view kPlanFile = ".after_optimizations.hlo.pb";

// The newest in a folder that may be the user's own.
std::optional<hlo::MemoryPlan> plan_in(const Path& folder) {
  std::optional<Path> newest;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(kPlanFile)) continue;
    if (!newest || entry.last_write_time() > std::filesystem::last_write_time(*newest)) newest = entry.path();
  }
  return newest ? std::optional(hlo::read_memory_plan(read_file(*newest))) : std::nullopt;
}

void add_plan(CompiledStep& step, const Program& program, const hlo::MemoryPlan& plan) {
  const auto state = std::count_if(program.aliases.begin(), program.aliases.end(), [](int64_t a) { return a >= 0; });
  const MemoryPeak peak = memory_peak(plan, {.state = state,
                                             .arguments = static_cast<int64_t>(program.inputs.size()),
                                             .loss = static_cast<size_t>(state),
                                             .head = kHead});
  StepMemory& memory = step.memory;
  if (!step.executable) memory.temporaries = plan.temporaries;
  memory.activations = peak.activations;
  memory.weights = peak.weights;
  memory.temporaries -= peak.activations + peak.weights;
  step.buffers.insert(step.buffers.end(), peak.buffers.begin(), peak.buffers.end());
}

// "… HLO temporaries (173.98G) exceeds …": the size behind `what` in an error of the compiler's; 0 if it names none.
// What it calls so are the arguments too.
int64_t bytes_named(const std::string& text, const std::string& what) {
  const size_t at = text.find(what + " (");
  if (at == std::string::npos) return 0;
  const size_t begin = at + what.size() + 2, end = text.find_first_of("KMGT)", begin);
  if (end == std::string::npos) return 0;
  const auto number = parse_number<double>(std::string_view(text).substr(begin, end - begin));
  constexpr std::string_view kUnits = "KMGT";
  const size_t unit = kUnits.find(text[end]);
  const int shift = unit == std::string_view::npos ? 0 : 10 * (static_cast<int>(unit) + 1);
  return number ? std::llround(std::ldexp(*number, shift)) : 0;
}

// Partition p runs on device number p: over several slices the compiler must be told.
pjrt::CompileOptions options_of(const CompiledStep& step, const Config& config) {
  pjrt::CompileOptions options = compile_options(step.setup.mesh, compiler_flags(config, step.slice.kind->name));
  options.device_assignment.emplace();
  for (const pjrt::DeviceInfo& device : step.devices) options.device_assignment->push_back({device.id});
  return options;
}

// `options` are those of a run; the flags of the plan are added here, so that they are not in the program's key.
void compile(CompiledStep& step, const Program& program, pjrt::CompileOptions options, const pjrt::Topology& topology,
             const Config& config) {
  const Clock::time_point begin = Clock::now();
  const TemporaryFolder ours;
  options.env_option_overrides.emplace(kPlanFolder, ours.path().string());
  options.env_option_overrides.emplace(kPlanFormat, true);
  try {
    step.executable = topology.compile(program.text, options);
    add_planned(step.memory, step.executable->memory_stats());
  } catch (const pjrt::PjrtError& error) {
    blame_compile_options(config, error);
    if (error.code() != pjrt::ErrorCode::ResourceExhausted || error.text().find("HbmOom") == std::string::npos) throw;
    step.refusal = error.text();
    step.memory.temporaries =
        std::max<int64_t>(bytes_named(error.text(), "HLO temporaries") - step.memory.arguments(), 0);
  }
  step.compile_seconds = seconds_since(begin);
  const auto* folder = std::get_if<std::string>(&options.env_option_overrides.at(kPlanFolder));
  if (folder == nullptr) return;
  if (const auto plan = plan_in(*folder)) add_plan(step, program, *plan);
  std::stable_sort(step.buffers.begin(), step.buffers.end(),
                   [](const PeakBuffer& a, const PeakBuffer& b) { return a.count * a.bytes > b.count * b.bytes; });
}

pjrt::Topology topology_of(const Slice& slice, const std::shared_ptr<const pjrt::Plugin>& plugin) {
  pjrt::NamedValues options;
  if (slice.slices > 1) options["num_slices"] = slice.slices;
  pjrt::Topology topology(plugin, slice.topology, options);
  const size_t devices = topology.devices().size();
  if (static_cast<int64_t>(devices) != slice.devices()) {
    user_error("{} has {} devices to the plugin {}, and {} to us: it is not the version that `make setup-tpu` installs",
               to_string(slice), devices, plugin->path(), slice.devices());
  }
  return topology;
}

}  // namespace

void check_slice(const Config& config, const Slice& slice) {
  if (config.get_string("graph.mode") != "graph") {
    user_error("{}: only the whole step of --mode graph is compiled for a topology", config.cite("graph.mode"));
  }
  const int64_t devices = slice.devices();
  const int64_t count = config.get_int("device.count");
  if (count != -1 && count != devices) {
    user_error("{}, and {} has {} devices: leave it out, the topology says how many there are",
               config.cite("device.count"), to_string(slice), devices);
  }
  const int64_t replicate = config.get_int(kReplicate), context = config.get_int(kContext),
                tensor = config.get_int(kTensor), shard = config.get_int(kShard);
  const int64_t others = replicate * context * tensor, taken = others * std::max<int64_t>(shard, 1);
  const bool fills = shard == -1 ? devices % others == 0 : taken == devices;
  if (!fills) {
    const std::string fix = devices % others == 0 ? fmt::format("{} = {} would fill it", kShard, devices / others)
                                                  : "lower them, or give a larger topology";
    user_error("the mesh {} {}: dp_replicate {} × dp_shard {} × cp {} × tp {} {} {} devices, and there are {}; {}",
               taken > devices ? "is larger than" : "does not fill", to_string(slice), replicate,
               shard == -1 ? "(the rest)" : std::to_string(shard), context, tensor,
               shard == -1 ? "comes in groups of" : "is", taken, devices, fix);
  }
  // The mesh's outermost axes lie over the slices, so that ranks of cp and tp share one.
  if (devices / (context * tensor) % slice.slices != 0) {
    user_error("the {} data-parallel ranks are no multiple of the {} slices, which they lie on: lower {} or {}",
               devices / (context * tensor), slice.slices, config.cite(kTensor), config.cite(kContext));
  }
}

CompiledStep compile_step(const Config& config, const Slice& slice, const std::shared_ptr<const pjrt::Plugin>& plugin) {
  check_slice(config, slice);
  const pjrt::Topology topology = topology_of(slice, plugin);
  CompiledStep step;
  step.slice = slice;
  step.devices = topology.devices();
  const Clock::time_point begin = Clock::now();
  step.setup = set_up(config, slice.devices());
  const TrainingSetup& setup = step.setup;
  const RecordedStep recorded = record_training_step(*setup.model, setup.store, setup.shape, setup.step);
  const Localised graphs = localised(*recorded.graph, setup.mesh, setup.gathers);
  const Program program =
      make_program(graphs, setup.mesh, capabilities_of(config), recorded.aliases, Locations::Modules);
  step.lowering_seconds = seconds_since(begin);
  step.program_bytes = program.text.size();
  step.collectives = program.collectives;
  add_arguments(step, program, setup.store.size());
  const pjrt::CompileOptions options = options_of(step, config);
  // A run writes it without locations, which a key would see.
  const std::string text = make_program(graphs, setup.mesh, capabilities_of(config), recorded.aliases).text;
  step.content = content_key(text, options, {});
  compile(step, program, options, topology, config);
  return step;
}

}  // namespace tethys
