// Topology: the shape of a machine that nobody needs to have. Programs are compiled for it without a client, so without
// a device: their memory, their cost and their code can be read.
//
//   Topology slice(Plugin::load("libtpu.so"), "v6e:16x16");
//   slice.compile(text, options).memory_stats().total();
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/compile_options.h"
#include "pjrt/device_info.h"
#include "pjrt/executable.h"
#include "pjrt/handle.h"
#include "pjrt/named_value.h"
#include "pjrt/plugin.h"

namespace tethys::pjrt {

class Topology {
 public:
  // PjrtError if the plugin does not know the name, or has no topologies.
  Topology(std::shared_ptr<const Plugin> plugin, const std::string& name, const NamedValues& options = {});

  std::string platform_name() const;
  std::string platform_version() const;
  // In ascending order of their ids, which over several slices have gaps.
  std::vector<DeviceInfo> devices() const;

  Executable compile(std::string_view program, const CompileOptions& options = {}) const;

 private:
  std::shared_ptr<const Plugin> plugin_;
  Handle<PJRT_TopologyDescription> handle_;
};

}  // namespace tethys::pjrt
