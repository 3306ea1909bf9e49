// How many handles of each kind the process holds. A plugin reports no leak, so we count: a program that has dropped
// everything sees zeros. Any thread may ask.
#pragma once

#include <cstdint>
#include <string>

namespace tethys::pjrt {

struct LiveHandles {
  int64_t clients = 0;
  int64_t buffers = 0;
  int64_t events = 0;
  int64_t executables = 0;  // loaded and not loaded
  int64_t topologies = 0;
  int64_t errors = 0;

  bool operator==(const LiveHandles&) const = default;
};

LiveHandles live_handles();

// "clients 1, buffers 3, …"
std::string to_string(const LiveHandles& handles);

}  // namespace tethys::pjrt
