// Executables. An Executable is a compiled program that can be asked about and stored; a LoadedExecutable also runs.
// Move only; any thread may use them.
//
// Donation shows in the type of an argument: a Donated buffer is consumed by the call, so that the program may write
// its results there (it says which by tf.aliasing_output); a borrowed one is never written to, whatever the program
// says.
//
//   std::vector<std::vector<Argument>> args(1);
//   args[0].emplace_back(Donated(std::move(state)));
//   args[0].emplace_back(batch);
//   std::vector<std::vector<Buffer>> results = step.execute(args);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pjrt/buffer.h"
#include "pjrt/client.h"
#include "pjrt/event.h"
#include "pjrt/named_value.h"

namespace tethys::pjrt {

struct Donated {
  explicit Donated(Buffer&& donated) : buffer(std::move(donated)) {}
  Buffer buffer;
};

class Argument {
 public:
  // Borrowed: the buffer must outlive the call, not the execution.
  Argument(const Buffer& borrowed) : value_(&borrowed) {}  // NOLINT: an argument is a buffer
  Argument(const Buffer&& borrowed) = delete;
  Argument(Donated donated) : value_(std::move(donated.buffer)) {}  // NOLINT

  bool donated() const { return std::holds_alternative<Buffer>(value_); }
  const Buffer& buffer() const { return donated() ? std::get<Buffer>(value_) : *std::get<const Buffer*>(value_); }
  // Takes a donated buffer back, as after an execution that failed before it began.
  Buffer take() { return std::move(std::get<Buffer>(value_)); }

 private:
  std::variant<const Buffer*, Buffer> value_;
};

// Sizes in bytes on one device, as the compiler planned them. What a program needs is
// arguments + outputs − aliased + temporaries.
struct MemoryStats {
  int64_t arguments = 0;
  int64_t outputs = 0;
  int64_t aliased = 0;  // outputs that take over a donated argument's memory
  int64_t temporaries = 0;
  int64_t generated_code = 0;
  int64_t peak = 0;  // 0 from a plugin that does not say

  int64_t total() const { return arguments + outputs - aliased + temporaries; }
};

// A program as the compiler left it: `format` is "hlo_with_config" or "hlo" (protos) or "mlir" (text or bytecode).
struct OptimizedProgram {
  std::string format;
  std::string code;
};

class Executable {
 public:
  Executable(std::shared_ptr<const Plugin> plugin, Handle<PJRT_Executable> handle);

  std::string name() const;
  int64_t num_replicas() const;
  int64_t num_partitions() const;
  int64_t num_outputs() const;
  // The types of the results on one device.
  std::vector<TensorType> output_types() const;
  std::vector<std::string> output_memory_kinds() const;

  // For Client::load of the same plugin version.
  std::string serialize() const;
  // Equal for equal programs, options and compilers.
  std::string fingerprint() const;
  MemoryStats memory_stats() const;
  // Figures by the plugin's names, such as "flops" and "bytes accessed".
  NamedValues cost_analysis() const;
  OptimizedProgram optimized_program() const;

 private:
  std::shared_ptr<const Plugin> plugin_;
  Handle<PJRT_Executable> handle_;
};

// A run that may not be done yet. `done` has an event per device.
struct Execution {
  std::vector<std::vector<Buffer>> results;
  std::vector<Event> done;
};

class LoadedExecutable {
 public:
  LoadedExecutable(std::shared_ptr<const ClientState> client, Handle<PJRT_LoadedExecutable> handle);
  LoadedExecutable(LoadedExecutable&&) = default;
  LoadedExecutable& operator=(LoadedExecutable&& other);

  // Runs the program once on all its addressable devices: a list of arguments per device, in the order of devices(),
  // and likewise the results. The lists must agree in length and in which positions are donated. When the run is
  // accepted the donated arguments are consumed and left empty; when it is refused (PjrtError) they stay in the lists.
  // execute waits for all devices, launch returns at once. Plugins check the arguments' sizes and devices but not their
  // dtypes: that is the caller's.
  std::vector<std::vector<Buffer>> execute(std::span<std::vector<Argument>> arguments) const;
  Execution launch(std::span<std::vector<Argument>> arguments) const;

  // The addressable devices that it runs on, by position in Client::addressable_devices().
  const std::vector<int64_t>& devices() const { return devices_; }
  const Executable& executable() const { return executable_; }

 private:
  std::shared_ptr<const ClientState> client_;
  Handle<PJRT_LoadedExecutable> handle_;
  Executable executable_;
  std::vector<int64_t> devices_;
  int64_t num_outputs_ = 0;
};

}  // namespace tethys::pjrt
