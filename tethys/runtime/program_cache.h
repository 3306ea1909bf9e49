// ProgramCache: compiled programs by their content, in memory and, where it is given a folder, on disk. Two programs
// share an entry when nothing that reaches the compiler differs: text, options, plugin, CPU, devices, handlers.
//
// A file that cannot be read, is damaged, or is refused by the plugin is a miss, never an error; so is a folder that
// cannot be written. One program may be given compiled (SavedProgram): it is loaded in the place of being compiled, or
// that is an error. Any thread may use it; a program that two ask for at once is compiled twice.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "pjrt/client.h"
#include "pjrt/compile_options.h"
#include "pjrt/executable.h"
#include "transforms/lower.h"

namespace tethys {

// Foreign code that programs call by name.
struct Handler {
  std::string target;
  void* function = nullptr;  // XLA_FFI_Handler*
  std::string version;       // changes whenever the program's view of it does
};

// A compiled program as it lies in the cache.
struct LoadedProgram {
  pjrt::LoadedExecutable executable;
  pjrt::MemoryStats memory;
  bool from_disk = false;
};

// A program that was compiled before, maybe on another machine, for the devices and the plugin at hand.
struct SavedProgram {
  std::string key;                    // content_key
  std::string_view executable;        // what Executable::serialize gave
  std::shared_ptr<const void> owner;  // of its bytes
  std::string origin;                 // where it is from, for people
  std::string another_program;        // what to say where it should be a program that it is not
};

// Whose compiler makes the code, and for which machine.
struct CompilerIdentity {
  std::string platform;
  std::string plugin;  // version
  std::string cpu;     // model and features
  int64_t devices = 0;
  std::string environment;  // what else decides the code, such as XLA_FLAGS
};

// The model and the feature flags of this machine's CPU.
std::string cpu_identity();

// How a program for this mesh is compiled.
pjrt::CompileOptions compile_options(const Mesh& mesh, const pjrt::OptionOverrides& compiler_options = {});

// What a program asks of any compiler: 32 hex digits. `handlers` are those that it calls. Of the options, the device
// assignment does not count: a mesh's devices are those of its machine in order.
std::string content_key(const std::string& text, const pjrt::CompileOptions& options,
                        const std::vector<Handler>& handlers);

// And of this compiler. 32 hex digits.
std::string program_key(const std::string& text, const pjrt::CompileOptions& options, const CompilerIdentity& compiler,
                        const std::vector<Handler>& handlers);

// Removes the stored programs that were used longest ago until those that are left take at most `most_bytes`.
void remove_oldest(const Path& folder, int64_t most_bytes);

class ProgramCache {
 public:
  // Empty `folder`: in memory only. It is made when something is first stored.
  ProgramCache(std::shared_ptr<const pjrt::Client> client, Path folder, std::vector<Handler> handlers,
               std::string environment, std::optional<SavedProgram> saved = std::nullopt);

  struct Counters {
    int64_t memory_hits = 0;
    int64_t disk_hits = 0;
    int64_t compiles = 0;
    int64_t refused_files = 0;   // found on disk but damaged, or not loaded by the plugin
    int64_t failed_stores = 0;   // compiled, and not stored
    int64_t saved_loads = 0;     // of the saved program
    double compile_seconds = 0;  // while at least one thread was in the compiler
    int64_t hits() const { return memory_hits + disk_hits; }
  };
  Counters counters() const;

  // PjrtError if the compiler refuses the program. InternalError if it calls a handler that was not given. UserError if
  // it is the saved one and the plugin does not load that.
  std::shared_ptr<const LoadedProgram> get(const Program& program, const pjrt::CompileOptions& options);

  const std::optional<SavedProgram>& saved() const { return saved_; }
  bool is_saved(const Program& program, const pjrt::CompileOptions& options) const;

 private:
  std::vector<Handler> handlers_of(const Program& program) const;
  std::shared_ptr<const LoadedProgram> make(const Program& program, const pjrt::CompileOptions& options,
                                            const std::string& key);
  std::shared_ptr<const LoadedProgram> load_saved();
  pjrt::LoadedExecutable compile(const std::string& text, const pjrt::CompileOptions& options);
  std::shared_ptr<const LoadedProgram> find(const std::string& key);
  void count(const std::function<void(Counters&)>& change);
  std::shared_ptr<const LoadedProgram> load(const Path& path);
  void store(const Path& path, const pjrt::Executable& executable);

  std::shared_ptr<const pjrt::Client> client_;
  Path folder_;
  std::vector<Handler> handlers_;
  CompilerIdentity compiler_;
  std::optional<SavedProgram> saved_;
  mutable std::mutex mutex_;  // of all below
  std::map<std::string, std::shared_ptr<const LoadedProgram>> programs_;
  Counters counters_;
  int compiling_ = 0;  // threads in the compiler
  std::chrono::steady_clock::time_point compiling_since_;
};

}  // namespace tethys
