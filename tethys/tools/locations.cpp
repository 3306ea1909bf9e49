#include "tools/locations.h"

#include <string_view>

#include "base/error.h"
#include "config/config.h"
#include "data/sources/parquet.h"
#include "tools/command.h"
#include "train/saved_step.h"

namespace tethys {
namespace {

// The first of `names` that is in the program's folder or one above it; empty if none is.
Path find_above(const Path& executable, std::initializer_list<const char*> names) {
  std::error_code ignored;
  for (Path folder = executable.parent_path();; folder = folder.parent_path()) {
    for (const char* name : names) {
      if (std::filesystem::exists(folder / name, ignored)) return folder / name;
    }
    if (folder == folder.parent_path()) return {};
  }
}

// Whether `folder` has an entry whose name is `before` and digits.
bool has_numbered(const Path& folder, std::string_view before) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const std::string name = entry->path().filename();
    const bool digits =
        name.size() > before.size() && name.find_first_not_of("0123456789", before.size()) == std::string::npos;
    if (digits && name.starts_with(before)) return true;
  }
  return false;
}

// The drivers of TPUs make a file for each chip.
bool has_tpu() {
  return has_numbered("/dev", "accel") || has_numbered("/dev/accel", "accel") || has_numbered("/dev/vfio", "");
}

// Of what a run on a TPU needs besides the TPU.
std::string what_is_there(const Config& config, const Surroundings& surroundings, const SavedStep* saved) {
  const std::string& given = config.get_string("device.plugin");
  const std::string libtpu = given.empty() ? libtpu_path(surroundings.executable).string() : given;
  std::string text = libtpu.empty() ? "nor is there libtpu, which `make setup-tpu` installs" : "there is " + libtpu;
  if (saved != nullptr) text += ", and the step in " + saved->describe();
  return text;
}

}  // namespace

Path recipes_folder(const Path& executable) {
  const Path folder = find_above(executable, {"recipes"});
  if (folder.empty()) {
    user_error("there is no folder `recipes` at or above {}; name the recipe by its path, with a slash in it",
               executable.parent_path().string());
  }
  return folder;
}

Path libtpu_path(const Path& executable) { return find_above(executable, {".deps/plugins/libtpu.so"}); }

std::string plugin_path(const Config& config, const Path& executable) {
  const std::string& given = config.get_string("device.plugin");
  if (!given.empty()) return given;
  const std::string& platform = config.get_string("device.platform");
  if (platform == "tpu") {
    const Path libtpu = libtpu_path(executable);
    if (!libtpu.empty()) return libtpu.string();
    user_error(
        "TPUs need the plugin libtpu, and .deps/plugins/libtpu.so is not at or above {}: run `make setup-tpu`, or give "
        "the path of a libtpu.so as --device.plugin PATH",
        executable.parent_path().string());
  }
  if (platform == "cuda") {
    user_error(
        "device.platform = cuda needs a plugin: install it with `pip install jax-cuda12-pjrt` and give its "
        "xla_cuda_plugin.so as --device.plugin PATH");
  }
  const Path found = find_above(executable, {".deps/plugins/default.so", ".deps/plugins/xla_cpu.so"});
  if (found.empty()) {
    user_error("no CPU plugin: .deps/plugins/ is not at or above {}; run `make setup`, or give --device.plugin PATH",
               executable.parent_path().string());
  }
  return found.string();
}

MachineOptions machine_options(const Config& config, const Surroundings& surroundings,
                               std::shared_ptr<const SavedStep> saved) {
  // Without one libtpu would look for it for minutes.
  if (config.get_string("device.platform") == "tpu" && !has_tpu()) {
    user_error(
        "{}: this machine has no TPU: there is no /dev/accel* and no numbered file in /dev/vfio; {}; run where "
        "there is one, or see by `tethys compile` what a step would take",
        config.cite("device.platform"), what_is_there(config, surroundings, saved.get()));
  }
  return {.plugin = plugin_path(config, surroundings.executable),
          .cache_folder = surroundings.cache_folder.string(),
          .environment = surroundings.xla_flags,
          .saved_step = std::move(saved)};
}

DataPlaces data_places(const Surroundings& surroundings) {
  return {(surroundings.cache_folder / "index").string(),
          (surroundings.executable.parent_path() / kParquetReader).string()};
}

}  // namespace tethys
