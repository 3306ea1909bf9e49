// The checks of `tethys doctor`, each of which looks at one thing that a run needs and gives what it found.
#pragma once

#include <vector>

#include "base/file.h"
#include "tools/doctor/finding.h"

namespace tethys {

// Model, threads and vector instructions of the CPU.
Finding check_cpu();

// What is there and what is free; a Note under 4 GiB.
Finding check_memory();

// That recipes/ is found from the program's place.
Finding check_recipes(const Path& executable);

// That the folder can be made and written to.
Finding check_cache(const Path& folder);

// Free space where a run would write: a Fault under 256 MiB, a Note under 8 GiB.
Finding check_disk(const Path& folder);

// Whether the component that reads Parquet loads; a Note if there is none, which few need.
Finding check_parquet(const std::string& reader);

// That the plugin loads, has devices, and computes 1 + 2 = 3. In a process of its own, since one that is broken, or
// does not know a flag of `xla_flags`, ends the process that loads it. `fix` is for one that does not.
Finding check_plugin(const Path& plugin, const std::string& xla_flags, const std::string& fix);

// What the plugin for TPUs is good for here; an empty path: it is not installed. It is not loaded: without a TPU it
// makes no client.
Finding check_libtpu(const Path& libtpu);

// check_plugin of the plugin that is used by default, and of those beside it, which are no more than a Note: a run uses
// one of them only if it is told to. That for TPUs is left out. A Fault if there is none.
std::vector<Finding> check_plugins(const Path& executable, const std::string& xla_flags);

}  // namespace tethys
