#include "runtime/executor.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/graph_identity.h"
#include "runtime/host_memory.h"
#include "transforms/dead_code.h"

namespace tethys {
namespace {

constexpr std::string_view kModes[] = {"eager", "deferred", "compile", "graph"};

// A CPU plugin takes a run's memory when it is launched, not when it begins: of runs that need more than this, one is
// on its way at a time, or they would hold it twice.
constexpr int64_t kLargeRun = int64_t{64} << 20;

// "multiply", or "12 ops".
std::string name_of_call(const Graph& graph) {
  const Node* only = nullptr;
  int64_t ops = 0;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    if (graph.node(n).operands.empty()) continue;
    only = &graph.node(n);
    ++ops;
  }
  return ops == 1 ? only->op->name : fmt::format("{} ops", ops);
}

}  // namespace

std::string_view name_of(Mode mode) { return kModes[static_cast<size_t>(mode)]; }

Mode parse_mode(std::string_view name) {
  for (Mode mode : {Mode::Eager, Mode::Deferred, Mode::Compile, Mode::Graph}) {
    if (name_of(mode) == name) return mode;
  }
  user_error("unknown mode '{}'; known are eager, deferred, compile, graph", name);
}

Executor::Executor(std::shared_ptr<const pjrt::Client> client, const Mesh& mesh, Capabilities capabilities,
                   ExecutorOptions options)
    : devices_(std::make_shared<const DeviceMesh>(client, mesh, options.tracer)),
      capabilities_(std::move(capabilities)),
      options_(std::move(options)),
      cache_(std::move(client), options_.cache_folder, options_.handlers, options_.environment,
             std::move(options_.saved)) {}

Executor::~Executor() {
  // A failure here has shown in the results of the run, or nobody has asked for them: events wait when dropped.
  in_flight_.clear();
}

std::shared_ptr<const CompiledProgram> Executor::compile(const Program& program, const std::string& name) {
  const Timed timed(devices_->time().compile);
  Span span(tracer(), "compile", name);
  require(program.mesh == mesh(), "a program for mesh {} on mesh {}", to_string(program.mesh), to_string(mesh()));
  auto compiled = std::make_shared<CompiledProgram>();
  compiled->loaded = cache_.get(program, compile_options(mesh(), options_.compiler_options));
  compiled->inputs = program.inputs;
  compiled->outputs = program.outputs;
  compiled->aliases = program.aliases;
  compiled->aliases.resize(program.inputs.size(), -1);
  compiled->name = name;
  span.set({"from_disk", compiled->loaded->from_disk});
  return compiled;
}

bool Executor::is_saved(const Program& program) const {
  return cache_.is_saved(program, compile_options(mesh(), options_.compiler_options));
}

void Executor::check_arguments(const CompiledProgram& program, const std::vector<Array>& arguments) const {
  require(arguments.size() == program.inputs.size(), "{} arguments for a program of {}", arguments.size(),
          program.inputs.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Port& port = program.inputs[i];
    const Array& array = arguments[i];
    require(array.type() == port.type && array.placement() == port.placement,
            "argument {} '{}' is {}{}, the program takes {}{}", i, port.name, to_string(array.type()),
            to_string(array.placement()), to_string(port.type), to_string(port.placement));
    require(array.devices()->same_devices(*devices_), "argument {} '{}' lies on other devices", i, port.name);
    require(!array.consumed(), "argument {} '{}' was donated to an earlier run", i, port.name);
  }
  std::map<const void*, size_t> seen;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto [first, fresh] = seen.try_emplace(&arguments[i].buffers(), i);
    require(fresh || (program.aliases[i] < 0 && program.aliases[first->second] < 0),
            "arguments {} '{}' and {} '{}' are one array, which is donated", first->second,
            program.inputs[first->second].name, i, program.inputs[i].name);
  }
}

// For each device of the executable, the index of its buffer in an Array.
std::vector<size_t> Executor::device_order(const CompiledProgram& program) const {
  const std::vector<int64_t>& own = devices_->devices();
  std::vector<size_t> order;
  for (int64_t device : program.loaded->executable.devices()) {
    const auto found = std::find(own.begin(), own.end(), device);
    require(found != own.end(), "a program for mesh {} runs on device {}", to_string(mesh()), device);
    order.push_back(static_cast<size_t>(found - own.begin()));
  }
  require(order.size() == own.size(), "a program runs on {} devices, the mesh addresses {}", order.size(), own.size());
  return order;
}

pjrt::Execution Executor::launch(const CompiledProgram& program, std::vector<Array>& arguments) {
  const std::vector<size_t> order = device_order(program);
  std::vector<std::vector<pjrt::Argument>> lists(order.size());
  for (std::vector<pjrt::Argument>& list : lists) list.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool donated = program.aliases[i] >= 0;
    std::vector<pjrt::Buffer> taken;
    if (donated) taken = arguments[i].consume();
    for (size_t d = 0; d < order.size(); ++d) {
      if (donated) {
        lists[d].emplace_back(pjrt::Donated(std::move(taken[order[d]])));
      } else {
        lists[d].emplace_back(arguments[i].buffers()[order[d]]);
      }
    }
  }
  try {
    const Timed timed(devices_->time().launch);
    const Span span(tracer(), "launch", program.name);
    return program.loaded->executable.launch(lists);
  } catch (...) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (program.aliases[i] < 0) continue;
      std::vector<pjrt::Buffer> back(order.size());
      for (size_t d = 0; d < order.size(); ++d) back[order[d]] = lists[d][i].take();
      arguments[i].give_back(std::move(back));
    }
    throw;
  }
}

// When a program begins on a device is not told: at the earliest when it was handed over.
void Executor::trace(const CompiledProgram& program, const pjrt::Execution& execution,
                     Clock::time_point launched) const {
  if (!tracer() || !tracer()->recording()) return;
  for (size_t d = 0; d < execution.done.size(); ++d) {
    execution.done[d].on_ready(tracer()->device_run(program.loaded->executable.devices()[d], program.name, launched));
  }
}

// The plugin frees the temporaries of a run a moment after it says that the run is done. A run that begins before takes
// others.
void Executor::make_room_for(int64_t fresh) {
  const int64_t known = ledger().live(pjrt::MemoryKind::Default) + held_;
  if (last_fresh_ > 0) wait_until_allocated(known + others_ + last_fresh_ / 2, std::chrono::milliseconds(100));
  others_ = allocated_memory() - known;
  last_fresh_ = fresh;
  trim_freed_memory(known + fresh, fresh);
}

std::vector<Array> Executor::run(const CompiledProgram& program, std::vector<Array> arguments) {
  check_arguments(program, arguments);
  wait(options_.runs_in_flight - 1);

  const pjrt::MemoryStats& memory = program.memory();
  const auto devices = static_cast<int64_t>(devices_->devices().size());
  const int64_t fresh = devices * (memory.temporaries + memory.outputs - memory.aliased);
  ledger().run(fresh);
  if (fresh > kLargeRun && devices_->client().platform_name() == "cpu") {
    wait();
    make_room_for(fresh);
  }

  const Clock::time_point launched = Clock::now();
  pjrt::Execution execution = launch(program, arguments);
  trace(program, execution, launched);
  in_flight_.push_back(std::move(execution.done));

  const std::vector<size_t> order = device_order(program);
  std::vector<Array> results;
  for (size_t r = 0; r < program.outputs.size(); ++r) {
    std::vector<pjrt::Buffer> buffers(order.size());
    for (size_t d = 0; d < order.size(); ++d) buffers[order[d]] = std::move(execution.results[d].at(r));
    const auto donor = std::find(program.aliases.begin(), program.aliases.end(), static_cast<int64_t>(r));
    const ArrayKind kind =
        donor == program.aliases.end() ? ArrayKind::Result : arguments[donor - program.aliases.begin()].kind();
    const Port& port = program.outputs[r];
    results.emplace_back(devices_, port.type, port.placement, std::move(buffers), kind);
  }
  if (tracer()) {
    tracer()->counter("device memory", ledger().live(pjrt::MemoryKind::Default));
    tracer()->counter("pinned host memory", ledger().live(pjrt::MemoryKind::PinnedHost));
  }
  return results;
}

std::vector<Array> Executor::run(const Program& program, std::vector<Array> arguments) {
  return run(*compile(program), std::move(arguments));
}

std::vector<Array> Executor::call(const Graph& recorded, std::vector<Array> arguments,
                                  const std::vector<int64_t>& aliases) {
  const std::shared_ptr<Graph> graph = without_dead_code(recorded);
  require(arguments.size() == graph->inputs().size(), "{} arguments for a graph of {} inputs", arguments.size(),
          graph->inputs().size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueId input = graph->inputs()[i];
    if (!graph->info(input).placement) graph->set_placement(input, arguments[i].placement());
  }
  std::vector<Called>& candidates = called_[graph_hash(*graph)];
  for (const Called& known : candidates) {
    if (known.aliases == aliases && same_program(*known.graph, *graph)) {
      return run(*known.program, std::move(arguments));
    }
  }
  const auto program = compile(make_program(*graph, mesh(), capabilities_, aliases), name_of_call(*graph));
  candidates.push_back({graph, aliases, program});
  return run(*program, std::move(arguments));
}

void Executor::wait_for_oldest() {
  const Timed timed(devices_->time().wait);
  const Span span(tracer(), "wait for the device");
  std::vector<pjrt::Event> done = std::move(in_flight_.front());
  in_flight_.pop_front();
  pjrt::await_all(done);
}

void Executor::wait(int64_t runs) {
  while (static_cast<int64_t>(in_flight_.size()) > runs) wait_for_oldest();
}

}  // namespace tethys
