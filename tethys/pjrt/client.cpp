#include "pjrt/client.h"

#include <utility>

#include "pjrt/call.h"
#include "pjrt/client_state.h"
#include "pjrt/executable.h"
#include "pjrt/named_value_c.h"

namespace tethys::pjrt {
namespace {

DeviceInfo describe(const std::shared_ptr<const Plugin>& plugin, PJRT_Device* device) {
  PJRT_DeviceDescription* description =
      call(plugin, TETHYS_PJRT(PJRT_Device_GetDescription), [&](auto& a) { a.device = device; }).device_description;
  DeviceInfo info = device_info(plugin, description);
  info.addressable =
      call(plugin, TETHYS_PJRT(PJRT_Device_IsAddressable), [&](auto& a) { a.device = device; }).is_addressable;
  return info;
}

std::vector<DeviceMemory> memories_of(const std::shared_ptr<const Plugin>& plugin, PJRT_Device* device) {
  const auto args = call(plugin, TETHYS_PJRT(PJRT_Device_AddressableMemories), [&](auto& a) { a.device = device; });
  std::vector<DeviceMemory> out;
  for (size_t i = 0; i < args.num_memories; ++i) {
    const auto kind = call(plugin, TETHYS_PJRT(PJRT_Memory_Kind), [&](auto& a) { a.memory = args.memories[i]; });
    out.push_back({args.memories[i], std::string(kind.kind, kind.kind_size)});
  }
  return out;
}

void read_devices(ClientState& state) {
  const auto set = [&](auto& a) { a.client = state.handle.get(); };
  const auto all = call(state.plugin, TETHYS_PJRT(PJRT_Client_Devices), set);
  for (size_t i = 0; i < all.num_devices; ++i) state.devices.push_back(describe(state.plugin, all.devices[i]));
  const auto own = call(state.plugin, TETHYS_PJRT(PJRT_Client_AddressableDevices), set);
  for (size_t i = 0; i < own.num_addressable_devices; ++i) {
    PJRT_Device* device = own.addressable_devices[i];
    state.device_handles.push_back(device);
    state.addressable.push_back(describe(state.plugin, device));
    state.memories.push_back(memories_of(state.plugin, device));
  }
}

LoadedExecutable compile_once(const std::shared_ptr<const ClientState>& state, std::string_view text,
                              const CompileOptions& options) {
  const std::string bytes = serialize(options);
  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  program.code = const_cast<char*>(text.data());  // read only: the field is also an output elsewhere
  program.code_size = text.size();
  program.format = "mlir";
  program.format_size = 4;
  const auto args = call(state->plugin, TETHYS_PJRT(PJRT_Client_Compile), [&](auto& a) {
    a.client = state->handle.get();
    a.program = &program;
    a.compile_options = bytes.data();
    a.compile_options_size = bytes.size();
  });
  return LoadedExecutable(state, adopt(state->plugin, args.executable));
}

// Whether the error says that the plugin does not know one of our defaults; it is not tried again then.
bool learn_refused(const ClientState& state, const OptionOverrides& defaults, const PjrtError& error) {
  if (error.code() != ErrorCode::InvalidArgument) return false;
  for (const auto& [name, value] : defaults) {
    if (error.text().find("option: '" + name + "'") == std::string::npos) continue;
    const std::lock_guard lock(state.mutex);
    state.refused_options.insert(name);
    return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(MemoryKind kind) {
  constexpr std::string_view kNames[] = {"default", "device", "pinned_host", "unpinned_host"};
  return kNames[static_cast<size_t>(kind)];
}

PJRT_Device* ClientState::device(int64_t ordinal) const {
  if (ordinal < 0 || ordinal >= static_cast<int64_t>(device_handles.size())) {
    user_error("device {} of a client that addresses {} ({})", ordinal, device_handles.size(), platform_name);
  }
  return device_handles[static_cast<size_t>(ordinal)];
}

PJRT_Memory* ClientState::memory(int64_t ordinal, MemoryKind kind) const {
  device(ordinal);
  if (kind == MemoryKind::Default) return nullptr;
  std::string kinds;
  for (const DeviceMemory& m : memories[static_cast<size_t>(ordinal)]) {
    if (m.kind == name_of(kind)) return m.memory;
    kinds += kinds.empty() ? m.kind : ", " + m.kind;
  }
  user_error("device {} ({}) has no memory of kind {}; it has {}", ordinal, platform_name, name_of(kind), kinds);
}

int64_t ClientState::ordinal_of(PJRT_Device* device) const {
  for (size_t i = 0; i < device_handles.size(); ++i) {
    if (device_handles[i] == device) return static_cast<int64_t>(i);
  }
  internal_error("a device that its client does not address");
}

Client::Client(std::shared_ptr<const Plugin> plugin, const ClientOptions& options) {
  NamedValues named = options.extra;
  if (options.device_count) named["cpu_device_count"] = *options.device_count;
  const std::vector<PJRT_NamedValue> values = to_c(named);
  const auto args = call(plugin, TETHYS_PJRT(PJRT_Client_Create), [&](auto& a) {
    a.create_options = values.data();
    a.num_options = values.size();
  });
  const auto state = std::make_shared<ClientState>();
  state->plugin = plugin;
  state->handle = adopt(plugin, args.client);
  const auto set = [&](auto& a) { a.client = args.client; };
  const auto name = call(plugin, TETHYS_PJRT(PJRT_Client_PlatformName), set);
  state->platform_name = std::string(name.platform_name, name.platform_name_size);
  const auto version = call(plugin, TETHYS_PJRT(PJRT_Client_PlatformVersion), set);
  state->platform_version = std::string(version.platform_version, version.platform_version_size);
  state->process_index = call(plugin, TETHYS_PJRT(PJRT_Client_ProcessIndex), set).process_index;
  read_devices(*state);
  state_ = state;
}

Client::~Client() = default;

const std::shared_ptr<const Plugin>& Client::plugin() const { return state_->plugin; }
const std::string& Client::platform_name() const { return state_->platform_name; }
const std::string& Client::platform_version() const { return state_->platform_version; }
int64_t Client::process_index() const { return state_->process_index; }
const std::vector<DeviceInfo>& Client::devices() const { return state_->devices; }
const std::vector<DeviceInfo>& Client::addressable_devices() const { return state_->addressable; }

std::vector<std::string> Client::memory_kinds(int64_t device) const {
  state_->device(device);
  std::vector<std::string> out;
  for (const DeviceMemory& m : state_->memories[static_cast<size_t>(device)]) out.push_back(m.kind);
  return out;
}

bool Client::has_memory(int64_t device, MemoryKind kind) const {
  if (kind == MemoryKind::Default) return true;
  for (const std::string& name : memory_kinds(device)) {
    if (name == name_of(kind)) return true;
  }
  return false;
}

LoadedExecutable Client::compile(std::string_view program, const CompileOptions& options) const {
  if (state_->platform_name != "cpu" || options.device_count() == 1) return compile_once(state_, program, options);
  while (true) {
    OptionOverrides defaults = cpu_collective_timeouts();
    {
      const std::lock_guard lock(state_->mutex);
      for (const std::string& name : state_->refused_options) defaults.erase(name);
    }
    for (const auto& [name, value] : options.env_option_overrides) defaults.erase(name);
    CompileOptions with_defaults = options;
    with_defaults.env_option_overrides.insert(defaults.begin(), defaults.end());
    try {
      return compile_once(state_, program, with_defaults);
    } catch (const PjrtError& error) {
      if (!learn_refused(*state_, defaults, error)) throw;
    }
  }
}

LoadedExecutable Client::load(std::string_view serialized) const {
  const auto args = call(state_->plugin, TETHYS_PJRT(PJRT_Executable_DeserializeAndLoad), [&](auto& a) {
    a.client = state_->handle.get();
    a.serialized_executable = serialized.data();
    a.serialized_executable_size = serialized.size();
  });
  return LoadedExecutable(state_, adopt(state_->plugin, args.loaded_executable));
}

}  // namespace tethys::pjrt
