#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "conformance.h"
#include "pjrt/live_handles.h"

namespace tethys::pjrt::conformance {
namespace {

std::shared_ptr<const Plugin> g_plugin;
std::optional<Client> g_one;
std::optional<Client> g_eight;

ClientOptions devices(int64_t count) {
  // Only CPU plugins make devices on demand; others are tested with what they have.
  static const bool cpu = Client(g_plugin).platform_name() == "cpu";
  return cpu ? ClientOptions{.device_count = count} : ClientOptions{};
}

// Last of all: everything is dropped, so nothing may be alive.
class NothingLeft : public testing::Environment {
 public:
  void TearDown() override {
    g_one.reset();
    g_eight.reset();
    EXPECT_EQ(live_handles(), LiveHandles{}) << "still alive: " << to_string(live_handles());
  }
};

std::string default_plugin() {
  const std::string chosen = TETHYS_SOURCE_DIR "/.deps/plugins/default.so";
  return std::filesystem::exists(chosen) ? chosen : TETHYS_SOURCE_DIR "/.deps/plugins/xla_cpu.so";
}

}  // namespace

const std::shared_ptr<const Plugin>& plugin() { return g_plugin; }

Client& one_device() {
  if (!g_one) g_one.emplace(g_plugin, devices(1));
  return *g_one;
}

Client& eight_devices() {
  if (!g_eight) g_eight.emplace(g_plugin, devices(kDevices));
  return *g_eight;
}

int main(int argc, char** argv) {
  setenv("TF_CPP_MIN_LOG_LEVEL", "3", /*replace=*/0);
  testing::InitGoogleTest(&argc, argv);
  std::string path = default_plugin();
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--plugin" || i + 1 == argc) {
      fmt::print(stderr, "usage: {} [--plugin PATH] [--gtest_…], got {}\n", argv[0], argv[i]);
      return 2;
    }
    path = argv[++i];
  }
  try {
    g_plugin = Plugin::load(path);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  testing::AddGlobalTestEnvironment(new NothingLeft);
  return RUN_ALL_TESTS();
}

}  // namespace tethys::pjrt::conformance

int main(int argc, char** argv) { return tethys::pjrt::conformance::main(argc, argv); }
