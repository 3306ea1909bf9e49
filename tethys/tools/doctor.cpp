// tethys doctor: what a run needs, looked at piece by piece.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "base/error.h"
#include "config/config.h"
#include "tools/commands.h"
#include "tools/doctor/checks.h"
#include "tools/exit_status.h"
#include "tools/locations.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  return {text_option("plugin", "", "the only plugin to look at, such as a libtpu.so; empty: those of make setup")};
}

void print(std::ostream& out, const Finding& finding) {
  constexpr std::string_view kStates[] = {"ok", "note", "FAULT"};
  fmt::print(out, "{:<6} {:<8} {}\n", kStates[static_cast<size_t>(finding.state)], finding.what, finding.detail);
  if (!finding.fix.empty()) fmt::print(out, "{:<15} fix: {}\n", "", finding.fix);
}

int run(Invocation& invocation) {
  const Surroundings& surroundings = invocation.surroundings;
  if (!invocation.arguments.empty()) user_error("tethys doctor takes no arguments, got '{}'", invocation.arguments[0]);
  int faults = 0;
  const auto show = [&](const Finding& finding) {
    if (finding.state == Finding::State::Fault) ++faults;
    print(surroundings.out, finding);
  };
  const std::string& plugin = invocation.config.get_string("plugin");
  // First, while the process has one thread.
  const std::vector<Finding> plugins = plugin.empty()
                                           ? check_plugins(surroundings.executable, surroundings.xla_flags)
                                           : std::vector{check_plugin(plugin, surroundings.xla_flags,
                                                                      "give the path of a plugin that is made for this "
                                                                      "machine's devices: see `tethys doctor --help`")};
  show({Finding::State::Ok, "program", surroundings.executable.string(), ""});
  show(check_recipes(surroundings.executable));
  show(check_cpu());
  show(check_memory());
  show(check_cache(surroundings.cache_folder));
  show(check_disk(whole_path(".")));
  show(check_parquet(data_places(surroundings).parquet_reader));
  for (const Finding& finding : plugins) show(finding);
  if (plugin.empty()) {
    show(check_libtpu(libtpu_path(surroundings.executable)));
    show({Finding::State::Note, "cuda",
          "for a GPU: `pip install jax-cuda12-pjrt`, then tethys doctor --plugin …/xla_cuda_plugin.so", ""});
  }
  fmt::print(surroundings.out, "{}\n",
             faults == 0   ? std::string("no faults")
             : faults == 1 ? std::string("1 fault")
                           : fmt::format("{} faults", faults));
  return faults == 0 ? kDone : kFailed;
}

}  // namespace

const Command kDoctorCommand{
    "doctor",
    "[--plugin PATH]",
    "look whether this machine has what a run needs",
    "  tethys doctor\n"
    "  tethys doctor --plugin .deps/plugins/libtpu.so      on a machine with a TPU\n\n"
    "A line for each thing that was looked at: the program, recipes, CPU, memory, cache, disk, the reader of Parquet,\n"
    "and the plugins, each of which is loaded and computes something. A fault has a line that says how to mend it.\n"
    "Exit status: 0 without a fault, 1 with one.\n",
    options,
    run,
};

}  // namespace tethys
