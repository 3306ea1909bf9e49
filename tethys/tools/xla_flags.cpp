#include "tools/xla_flags.h"

#include "base/error.h"
#include "config/config.h"
#include "pjrt/client.h"
#include "tools/command.h"
#include "tools/locations.h"
#include "tools/probe.h"

namespace tethys {

void check_xla_flags(const Config& config, const Surroundings& surroundings) {
  // Other devices belong to one process at a time.
  if (surroundings.xla_flags.empty() || config.get_string("device.platform") != "cpu") return;
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
