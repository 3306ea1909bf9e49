#include "train/machine.h"

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "config/config.h"
#include "train/compiler_flags.h"

namespace tethys {
namespace {

pjrt::OptionValue option_value(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto number = parse_number<int64_t>(text)) return *number;
  if (const auto number = parse_number<double>(text)) return *number;
  return text;
}

}  // namespace

pjrt::OptionOverrides compile_options_of(const Config& config) {
  pjrt::OptionOverrides overrides;
  for (const std::string& text : config.get_strings("device.compile_options")) {
    const size_t equals = text.find('=');
    require(equals != std::string::npos, "compile option '{}', which check_config would have refused", text);
    overrides[text.substr(0, equals)] = option_value(text.substr(equals + 1));
  }
  return overrides;
}

void blame_compile_options(const Config& config, const pjrt::PjrtError& error) {
  if (error.code() != pjrt::ErrorCode::InvalidArgument) return;
  for (const auto& [name, value] : compile_options_of(config)) {
    if (error.text().find(name) == std::string::npos) continue;
    user_error("{}: the compiler does not take {}: {}", config.cite("device.compile_options"), name, error.text());
  }
}

// Each has threads and memory of its own.
constexpr int64_t kMostVirtualDevices = 256;

std::optional<int64_t> virtual_devices(const Config& config) {
  if (config.get_string("device.platform") != "cpu") return std::nullopt;
  const int64_t count = config.get_int("device.count");
  const int64_t made = degrees_of(config, count == -1 ? std::nullopt : std::optional(count)).devices();
  if (made > kMostVirtualDevices) {
    user_error("{} virtual devices on one cpu: at most {}; lower --device.count or the degrees under parallelism", made,
               kMostVirtualDevices);
  }
  return made;
}

Machine open_machine(const Config& config, const MachineOptions& options) {
  Machine machine;
  const std::optional<int64_t> made = virtual_devices(config);  // first: what does not fit needs no plugin to be loaded
  machine.client = std::make_shared<const pjrt::Client>(pjrt::Plugin::load(options.plugin),
                                                        pjrt::ClientOptions{.device_count = made});
  const std::string& platform = config.get_string("device.platform");
  if (machine.client->platform_name() != platform) {
    user_error("the plugin {} is for {}, and {}", options.plugin, machine.client->platform_name(),
               config.cite("device.platform"));
  }
  const int64_t count = config.get_int("device.count");
  const int64_t present = static_cast<int64_t>(machine.client->devices().size());
  if (count > present)
    user_error("{}, and the platform {} has {} here", config.cite("device.count"), platform, present);
  machine.devices = made ? *made : count == -1 ? present : count;
  return machine;
}

Capabilities capabilities_of(const Config& config) {
  const std::string& platform = config.get_string("device.platform");
  return {.platform = platform, .kernels = {}, .host_memory = platform != "cpu"};
}

std::unique_ptr<Executor> make_executor(const Config& config, const Machine& machine, const Mesh& mesh,
                                        const MachineOptions& options, std::optional<SavedProgram> saved) {
  const std::string programs = options.cache_folder.empty() ? "" : (Path(options.cache_folder) / "programs").string();
  return std::make_unique<Executor>(
      machine.client, mesh, capabilities_of(config),
      ExecutorOptions{.mode = parse_mode(config.get_string("graph.mode")),
                      .cache_folder = programs,
                      .compiler_options = compiler_flags(config, machine.client->addressable_devices().at(0).kind),
                      .handlers = {},
                      .environment = options.environment,
                      .tracer = options.tracer,
                      .saved = std::move(saved)});
}

}  // namespace tethys
