#include "tools/version.h"

#include <fmt/format.h>

#include <chrono>

#include "base/error.h"
#include "pjrt/plugin.h"
#include "tools/command.h"
#include "tools/locations.h"
#include "tools/probe.h"

namespace tethys {
namespace {

// What it says of itself when it is loaded, which may end the process.
std::string version_of_plugin(const std::string& path) {
  constexpr std::chrono::seconds kLimit(20);
  const Probed probed = probe([&] { return pjrt::Plugin::load(path)->version(); }, kLimit);
  return fmt::format("{}: {}", path, probed.result.value_or(probed.trouble));
}

}  // namespace

std::string version_text(const Surroundings& surroundings) {
  std::string plugin;
  try {
    plugin = version_of_plugin(plugin_path(Config(with_training_options({})), surroundings.executable));
  } catch (const UserError& error) {
    plugin = error.what();
  }
  return fmt::format("tethys {}\nplugin {}\n", surroundings.version, plugin);
}

}  // namespace tethys
