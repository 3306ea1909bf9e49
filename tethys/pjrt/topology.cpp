#include "pjrt/topology.h"

#include <algorithm>
#include <utility>

#include "pjrt/call.h"
#include "pjrt/named_value_c.h"

namespace tethys::pjrt {

Topology::Topology(std::shared_ptr<const Plugin> plugin, const std::string& name, const NamedValues& options)
    : plugin_(std::move(plugin)) {
  const std::vector<PJRT_NamedValue> values = to_c(options);
  const auto args = call(plugin_, TETHYS_PJRT(PJRT_TopologyDescription_Create), [&](auto& a) {
    a.topology_name = name.data();
    a.topology_name_size = name.size();
    a.create_options = values.data();
    a.num_options = values.size();
  });
  handle_ = adopt(plugin_, args.topology);
}

std::string Topology::platform_name() const {
  const auto args =
      call(plugin_, TETHYS_PJRT(PJRT_TopologyDescription_PlatformName), [&](auto& a) { a.topology = handle_.get(); });
  return std::string(args.platform_name, args.platform_name_size);
}

std::string Topology::platform_version() const {
  const auto args = call(plugin_, TETHYS_PJRT(PJRT_TopologyDescription_PlatformVersion),
                         [&](auto& a) { a.topology = handle_.get(); });
  return std::string(args.platform_version, args.platform_version_size);
}

std::vector<DeviceInfo> Topology::devices() const {
  const auto args = call(plugin_, TETHYS_PJRT(PJRT_TopologyDescription_GetDeviceDescriptions),
                         [&](auto& a) { a.topology = handle_.get(); });
  std::vector<DeviceInfo> devices;
  for (size_t i = 0; i < args.num_descriptions; ++i) devices.push_back(device_info(plugin_, args.descriptions[i]));
  std::sort(devices.begin(), devices.end(), [](const DeviceInfo& a, const DeviceInfo& b) { return a.id < b.id; });
  return devices;
}

Executable Topology::compile(std::string_view text, const CompileOptions& options) const {
  const std::string bytes = serialize(options);
  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  program.code = const_cast<char*>(text.data());  // read only: the field is also an output elsewhere
  program.code_size = text.size();
  program.format = "mlir";
  program.format_size = 4;
  const auto args = call(plugin_, TETHYS_PJRT(PJRT_Compile), [&](auto& a) {
    a.topology = handle_.get();
    a.program = &program;
    a.compile_options = bytes.data();
    a.compile_options_size = bytes.size();
  });
  return Executable(plugin_, adopt(plugin_, args.executable));
}

}  // namespace tethys::pjrt
