// What a Client and all that is made from it share. For the sources of pjrt/ only.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "pjrt/client.h"
#include "pjrt/handle.h"

namespace tethys::pjrt {

struct DeviceMemory {
  PJRT_Memory* memory = nullptr;
  std::string kind;
};

struct ClientState {
  std::shared_ptr<const Plugin> plugin;
  Handle<PJRT_Client> handle;
  std::string platform_name;
  std::string platform_version;
  int64_t process_index = 0;
  std::vector<DeviceInfo> devices;
  std::vector<DeviceInfo> addressable;
  // The same order as `addressable`.
  std::vector<PJRT_Device*> device_handles;
  std::vector<std::vector<DeviceMemory>> memories;

  // Our defaults that this plugin's compiler has refused by name; found out at the first compile.
  mutable std::mutex mutex;
  mutable std::set<std::string> refused_options;

  PJRT_Device* device(int64_t ordinal) const;
  // Null for MemoryKind::Default. UserError, naming the kinds there are, if the device has no such memory.
  PJRT_Memory* memory(int64_t ordinal, MemoryKind kind) const;
  int64_t ordinal_of(PJRT_Device* device) const;
};

}  // namespace tethys::pjrt
