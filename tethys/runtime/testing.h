// What the device tests share: the default plugin and one client of eight devices, made once per process.
#pragma once

#include <map>
#include <memory>

#include "pjrt/client.h"
#include "pjrt/plugin.h"
#include "runtime/executor.h"

namespace tethys::runtime_testing {

inline constexpr int64_t kDevices = 8;

inline const std::shared_ptr<const pjrt::Client>& client() {
  static const auto shared = std::make_shared<const pjrt::Client>(
      pjrt::Plugin::load(TETHYS_SOURCE_DIR "/.deps/plugins/default.so"), pjrt::ClientOptions{.device_count = kDevices});
  return shared;
}

inline Mesh mesh_of(int64_t devices) { return devices == 1 ? Mesh() : Mesh({{"dp_shard", devices}}); }

// One per number of devices, so that tests that compile the same program share it.
inline Executor& shared_executor(int64_t devices) {
  static std::map<int64_t, std::unique_ptr<Executor>> executors;
  std::unique_ptr<Executor>& executor = executors[devices];
  if (!executor) executor = std::make_unique<Executor>(client(), mesh_of(devices), Capabilities{});
  return *executor;
}

inline Array put(const Executor& executor, const HostTensor& tensor, const Placement& placement,
                 ArrayKind kind = ArrayKind::Input) {
  return to_device(executor.devices(), tensor, placement, {.kind = kind});
}

}  // namespace tethys::runtime_testing
