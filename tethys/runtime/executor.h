// Executor: compiles programs, once each, and runs them on the devices of a mesh.
//
//   Executor executor(client, mesh, {.platform = "cpu"}, {.cache_folder = folder});
//   auto step = executor.compile(make_program(graph, mesh, executor.capabilities(), aliases));
//   std::vector<Array> results = executor.run(*step, arguments);    // at once: results are promises
//   loss = to_host(results[0]);                                     // waits
//
// An argument whose alias is ≥ 0 is donated: the Array is consumed, with all its copies. Used by one thread at a time,
// but for compile(), which any thread may call; the Arrays may be read on others.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/array.h"
#include "runtime/program_cache.h"
#include "transforms/lower.h"

namespace tethys {

// How a graph is cut into programs.
enum class Mode : uint8_t { Eager, Deferred, Compile, Graph };
std::string_view name_of(Mode mode);
// UserError if there is no such mode.
Mode parse_mode(std::string_view name);

struct ExecutorOptions {
  Mode mode = Mode::Graph;
  std::string cache_folder = {};  // of compiled programs; empty: in memory only
  pjrt::OptionOverrides compiler_options = {};
  std::vector<Handler> handlers = {};
  std::string environment = {};  // what else decides the compiler's output, such as XLA_FLAGS
  // How many runs may be on their way before a further one waits for the first.
  int64_t runs_in_flight = 2;
  std::shared_ptr<Tracer> tracer = nullptr;  // sees compiles, runs, transfers and memory
  std::optional<SavedProgram> saved = std::nullopt;
};

// A program that can be run: what it takes and gives, and its code.
struct CompiledProgram {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<int64_t> aliases;  // one per input
  std::shared_ptr<const LoadedProgram> loaded;
  std::string name;  // for people

  const pjrt::MemoryStats& memory() const { return loaded->memory; }  // of one device
};

class Executor {
 public:
  // UserError for a mesh that does not fit the client.
  Executor(std::shared_ptr<const pjrt::Client> client, const Mesh& mesh, Capabilities capabilities,
           ExecutorOptions options = {});
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  // Waits for what still runs.
  ~Executor();

  const Mesh& mesh() const { return devices_->mesh(); }
  const Capabilities& capabilities() const { return capabilities_; }
  const std::shared_ptr<const DeviceMesh>& devices() const { return devices_; }
  Mode mode() const { return options_.mode; }
  Ledger& ledger() const { return devices_->ledger(); }
  TimeAccounts time() const { return devices_->time().read(); }
  const std::shared_ptr<Tracer>& tracer() const { return devices_->tracer(); }
  ProgramCache::Counters counters() const { return cache_.counters(); }

  std::shared_ptr<const CompiledProgram> compile(const Program& program, const std::string& name = "program");

  // What compile loads in the place of compiling it, and whether that is what `program` is.
  const std::optional<SavedProgram>& saved() const { return cache_.saved(); }
  bool is_saved(const Program& program) const;

  // InternalError if an argument's type, placement or devices are not the program's. A PjrtError of an earlier run may
  // show here; a run that is refused leaves its arguments as they were.
  std::vector<Array> run(const CompiledProgram& program, std::vector<Array> arguments);
  std::vector<Array> run(const Program& program, std::vector<Array> arguments);

  // Runs a recorded graph; inputs without a placement take that of their arguments. Remembers programs by the graph's
  // content, which is walked every time: a training step keeps its CompiledProgram instead.
  std::vector<Array> call(const Graph& recorded, std::vector<Array> arguments,
                          const std::vector<int64_t>& aliases = {});

  // Blocks until no more than `runs` are on their way. PjrtError if one failed.
  void wait(int64_t runs = 0);

  // Bytes of host memory that the process holds for other ends than arrays: freed memory beyond them is given back.
  void hold(int64_t bytes) { held_ = bytes; }

 private:
  struct Called {
    std::shared_ptr<const Graph> graph;
    std::vector<int64_t> aliases;
    std::shared_ptr<const CompiledProgram> program;
  };

  void check_arguments(const CompiledProgram& program, const std::vector<Array>& arguments) const;
  std::vector<size_t> device_order(const CompiledProgram& program) const;
  pjrt::Execution launch(const CompiledProgram& program, std::vector<Array>& arguments);
  void trace(const CompiledProgram& program, const pjrt::Execution& execution, Clock::time_point launched) const;
  void wait_for_oldest();
  void make_room_for(int64_t fresh);

  std::shared_ptr<const DeviceMesh> devices_;
  Capabilities capabilities_;
  ExecutorOptions options_;
  ProgramCache cache_;
  std::map<std::string, std::vector<Called>> called_;  // by graph_hash
  std::deque<std::vector<pjrt::Event>> in_flight_;
  int64_t held_ = 0;
  int64_t last_fresh_ = 0;  // of the last large run on a cpu
  int64_t others_ = 0;      // allocated before it besides arrays and what is held
};

}  // namespace tethys
