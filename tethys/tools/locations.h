// Where the program finds what came with it: recipes and plugins, in the folders above its own file.
#pragma once

#include <string>

#include "base/file.h"
#include "train/corpus.h"
#include "train/machine.h"

namespace tethys {

class Config;
struct Surroundings;

// The nearest folder `recipes` at or above the program's folder. UserError if there is none.
Path recipes_folder(const Path& executable);

// The plugin for TPUs that `make setup-tpu` installs, in a folder above the program's; empty where it did not.
Path libtpu_path(const Path& executable);

// The plugin that device.plugin names, or else that of the platform: on tpu libtpu_path, on cpu
// .deps/plugins/default.so above the program's folder, or xla_cpu.so beside it. UserError that says what to install if
// there is none.
std::string plugin_path(const Config& config, const Path& executable);

// The machine of the configuration: its plugin, the cache folder that is ours, and the step that was saved for it, if
// one was. UserError if it is to be one with TPUs and this one has none.
MachineOptions machine_options(const Config& config, const Surroundings& surroundings,
                               std::shared_ptr<const SavedStep> saved = nullptr);

// Where indexes are kept, and what reads Parquet, which lies beside the program.
DataPlaces data_places(const Surroundings& surroundings);

}  // namespace tethys
