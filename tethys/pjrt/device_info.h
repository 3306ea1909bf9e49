// DeviceInfo: what a plugin says of a device, whether it is there (Client) or only described (Topology). Plain values.
//
//   describe_devices(topology.devices());   // "4 × TPU v5 lite, 2x2x1"
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct PJRT_DeviceDescription;

namespace tethys::pjrt {

class Plugin;

struct DeviceInfo {
  int64_t id = 0;             // over all processes
  int64_t process_index = 0;  // the process that addresses it
  std::string kind;           // "cpu", "TPU v5p"
  bool addressable = true;
  std::vector<int64_t> coords = {};  // of its chip in the grid of a slice; empty where there is no grid
  int64_t core = 0;                  // of its chip
  int64_t slice = 0;
};

// Their number and kind, and the sides of the grid that they form; of several slices how many.
std::string describe_devices(const std::vector<DeviceInfo>& devices);

// Equal where the same numbers are devices of the same kind in the same places, whatever their order: a program whose
// devices are given by number runs on both alike.
std::string devices_key(const std::vector<DeviceInfo>& devices);

// For the sources of pjrt/ only.
DeviceInfo device_info(const std::shared_ptr<const Plugin>& plugin, PJRT_DeviceDescription* description);

}  // namespace tethys::pjrt
