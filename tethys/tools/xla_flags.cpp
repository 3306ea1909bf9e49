#include "tools/xla_flags.h"

#include <sstream>
#include <string_view>

#include "base/error.h"
#include "config/config.h"
#include "pjrt/client.h"
#include "tools/command.h"
#include "tools/locations.h"
#include "tools/probe.h"

namespace tethys {

namespace {

// The plugin would go on without what it was to write, and say so on many lines, program by program.
void check_dump_folder(const std::string& flags) {
  constexpr std::string_view kDumpTo = "--xla_dump_to=";
  std::istringstream all(flags);
  for (std::string flag; all >> flag;) {
    if (!flag.starts_with(kDumpTo)) continue;
    const Path folder = flag.substr(kDumpTo.size());
    if (folder.empty() || folder == "-" || folder == "sponge") continue;  // no folder is meant
    try {
      make_directories(folder);
    } catch (const Error& error) {
      user_error("XLA_FLAGS has {}: {}; correct it or unset it", flag, error.what());
    }
  }
}

}  // namespace

void check_xla_flags(const Config& config, const Surroundings& surroundings) {
  // Other devices belong to one process at a time.
  if (surroundings.xla_flags.empty() || config.get_string("device.platform") != "cpu") return;
  check_dump_folder(surroundings.xla_flags);
  const std::string plugin = plugin_path(config, surroundings.executable);
  const auto make_client = [&] {
    const pjrt::Client client(pjrt::Plugin::load(plugin));
    return std::string("made");
  };
  const Probed probed = probe(make_client, std::chrono::seconds(60));
  if (!probed.crashed) return;  // another fault is found where the plugin is used
  user_error("XLA_FLAGS is '{}', and with it the plugin {} cannot start: {}; correct it or unset it",
             surroundings.xla_flags, plugin, probed.trouble);
}

}  // namespace tethys
