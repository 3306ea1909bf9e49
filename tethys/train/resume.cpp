#include "train/resume.h"

#include <fmt/format.h>

#include "base/error.h"
#include "checkpoint/store.h"
#include "config/config.h"

namespace tethys {
namespace {

bool is_fixed(const Option& option) {
  return section_of(option) == "model" || option.name == "training.dtype" || option.name == "debug.seed" ||
         option.name == "checkpoint.folder";
}

}  // namespace

std::vector<std::string> changes_since_last_run(const RunFolder& folder, const Config& config) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder.config(), ignored)) return {};
  Config last;
  load_run_config(last, folder.config());
  if (!CheckpointStore(folder.checkpoints(last.get_string("checkpoint.folder"))).newest()) return {};
  std::vector<std::string> changes;
  for (const Option& option : last.options()) {
    const OptionValue& before = last.value(option.name);
    if (before == config.value(option.name)) continue;
    if (is_fixed(option)) {
      user_error(
          "{}, and {} in {}: a run goes on with the model, dtype, seed and checkpoint.folder that it began with; give "
          "{} "
          "again, or start a new run from its weights by --checkpoint.initial_load_path",
          config.cite(option.name), to_toml(before), folder.config().string(), to_toml(before));
    }
    changes.push_back(fmt::format("{} = {} → {}", option.name, to_toml(before), to_toml(config.value(option.name))));
  }
  return changes;
}

}  // namespace tethys
