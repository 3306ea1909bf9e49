#include "pjrt/device_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "pjrt/call.h"
#include "pjrt/named_value_c.h"

namespace tethys::pjrt {
namespace {

int64_t integer_of(const NamedValues& attributes, const char* name) {
  const auto found = attributes.find(name);
  const auto* value = found == attributes.end() ? nullptr : std::get_if<int64_t>(&found->second);
  return value == nullptr ? 0 : *value;
}

// The sides of the grid that the chips form, "2x2x1"; empty where there is none.
std::string grid_of(const std::vector<DeviceInfo>& devices) {
  std::vector<int64_t> sides = devices[0].coords;
  for (const DeviceInfo& device : devices) {
    if (device.coords.size() != sides.size()) return "";
    for (size_t i = 0; i < sides.size(); ++i) sides[i] = std::max(sides[i], device.coords[i]);
  }
  for (int64_t& side : sides) ++side;
  return fmt::format("{}", fmt::join(sides, "x"));
}

}  // namespace

std::string describe_devices(const std::vector<DeviceInfo>& devices) {
  if (devices.empty()) return "no devices";
  std::set<int64_t> slices;
  for (const DeviceInfo& device : devices) slices.insert(device.slice);
  std::string text = fmt::format("{} × {}", devices.size(), devices[0].kind);
  const std::string grid = grid_of(devices);
  if (!grid.empty()) text += ", " + grid;
  if (slices.size() > 1) text += fmt::format(" in {} slices", slices.size());
  return text;
}

std::string devices_key(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> lines;
  for (const DeviceInfo& d : devices) {
    lines.push_back(
        fmt::format("{} {} at {} core {} slice {}\n", d.id, d.kind, fmt::join(d.coords, ","), d.core, d.slice));
  }
  std::sort(lines.begin(), lines.end());
  return hash_hex(fmt::format("{}", fmt::join(lines, "")));
}

DeviceInfo device_info(const std::shared_ptr<const Plugin>& plugin, PJRT_DeviceDescription* description) {
  const auto set = [&](auto& a) { a.device_description = description; };
  const auto kind = call(plugin, TETHYS_PJRT(PJRT_DeviceDescription_Kind), set);
  DeviceInfo info;
  info.id = call(plugin, TETHYS_PJRT(PJRT_DeviceDescription_Id), set).id;
  info.process_index = call(plugin, TETHYS_PJRT(PJRT_DeviceDescription_ProcessIndex), set).process_index;
  info.kind = std::string(kind.device_kind, kind.device_kind_size);
  const auto args = call(plugin, TETHYS_PJRT(PJRT_DeviceDescription_Attributes), set);
  const NamedValues attributes = from_c(args.attributes, args.num_attributes);
  const auto coords = attributes.find("coords");
  if (coords != attributes.end()) {
    if (const auto* list = std::get_if<std::vector<int64_t>>(&coords->second)) info.coords = *list;
  }
  info.core = integer_of(attributes, "core_on_chip");
  info.slice = integer_of(attributes, "slice_index");
  return info;
}

}  // namespace tethys::pjrt
