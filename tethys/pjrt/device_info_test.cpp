#include "pjrt/device_info.h"

#include <gtest/gtest.h>

namespace tethys::pjrt {
namespace {

DeviceInfo chip(int64_t id, std::vector<int64_t> coords, int64_t slice = 0) {
  return {.id = id, .kind = "TPU v5 lite", .coords = std::move(coords), .slice = slice};
}

TEST(DescribeDevices, GivesNumberKindGridAndSlices) {
  EXPECT_EQ(describe_devices({{.id = 0, .kind = "cpu"}}), "1 × cpu");
  EXPECT_EQ(describe_devices({chip(0, {0, 0, 0}), chip(1, {1, 0, 0}), chip(2, {0, 1, 0}), chip(3, {1, 1, 0})}),
            "4 × TPU v5 lite, 2x2x1");
  EXPECT_EQ(describe_devices({chip(0, {0, 0}), chip(9, {0, 0}, 1)}), "2 × TPU v5 lite, 1x1 in 2 slices");
  EXPECT_EQ(describe_devices({}), "no devices");
}

TEST(DevicesKey, IsOfNumbersKindsAndPlacesInWhateverOrder) {
  const std::vector<DeviceInfo> devices = {chip(0, {0, 0}), chip(1, {1, 0})};
  const std::string key = devices_key(devices);
  EXPECT_EQ(devices_key({devices[1], devices[0]}), key);
  EXPECT_NE(devices_key({chip(0, {1, 0}), chip(1, {0, 0})}), key);
  EXPECT_NE(devices_key({chip(0, {0, 0}), chip(2, {1, 0})}), key);
  EXPECT_NE(devices_key({chip(0, {0, 0}), chip(1, {1, 0}, 1)}), key);
  EXPECT_NE(devices_key({devices[0]}), key);
  std::vector<DeviceInfo> others = devices;
  for (DeviceInfo& device : others) device.kind = "TPU v6 lite";
  EXPECT_NE(devices_key(others), key);
  others = devices;
  others[1].addressable = false;  // whose device it is does not matter
  others[1].process_index = 1;
  EXPECT_EQ(devices_key(others), key);
}

}  // namespace
}  // namespace tethys::pjrt
