// Client: a plugin's runtime, with its devices and memories. What is made from it (buffers, executables) keeps it
// alive. Move only; any thread may use it.
//
//   Client client(Plugin::load(path), {.device_count = 8});
//   LoadedExecutable step = client.compile(text, {.num_partitions = 8, .use_spmd_partitioning = true});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/compile_options.h"
#include "pjrt/device_info.h"
#include "pjrt/named_value.h"
#include "pjrt/plugin.h"

struct PJRT_Device;
struct PJRT_Memory;

namespace tethys::pjrt {

class LoadedExecutable;
struct ClientState;

// The memories of a device, by the names that XLA gives them. Default is the device's own choice: `device` on TPU and
// GPU, and on CPU plugins whichever they prefer.
enum class MemoryKind : uint8_t { Default, Device, PinnedHost, UnpinnedHost };
// "default", "device", "pinned_host", "unpinned_host"
std::string_view name_of(MemoryKind kind);

struct ClientOptions {
  // How many virtual devices a CPU plugin makes. Not set, the plugin decides; other plugins have the devices they have.
  std::optional<int64_t> device_count = std::nullopt;
  // Further options, by the plugin's own names.
  NamedValues extra = {};
};

class Client {
 public:
  explicit Client(std::shared_ptr<const Plugin> plugin, const ClientOptions& options = {});
  Client(Client&&) = default;
  Client& operator=(Client&&) = default;
  ~Client();

  const std::shared_ptr<const Plugin>& plugin() const;
  // "cpu", "tpu", "cuda"
  const std::string& platform_name() const;
  const std::string& platform_version() const;
  int64_t process_index() const;

  // All devices, those of other processes included.
  const std::vector<DeviceInfo>& devices() const;
  // The devices of this process. Everywhere in pjrt/ a device is named by its position in this list.
  const std::vector<DeviceInfo>& addressable_devices() const;
  int64_t device_count() const { return static_cast<int64_t>(addressable_devices().size()); }
  // The kinds of memory that a device has, by the plugin's own names.
  std::vector<std::string> memory_kinds(int64_t device) const;
  bool has_memory(int64_t device, MemoryKind kind) const;

  // Compiles a StableHLO module, as text or bytecode. PjrtError with the compiler's text if it is refused.
  LoadedExecutable compile(std::string_view program, const CompileOptions& options = {}) const;
  // Loads what Executable::serialize gave, from the same plugin version and machine type.
  LoadedExecutable load(std::string_view serialized) const;

  const std::shared_ptr<const ClientState>& state() const { return state_; }

 private:
  std::shared_ptr<const ClientState> state_;
};

}  // namespace tethys::pjrt
