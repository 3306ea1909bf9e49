// Temporary names: under one a file is written next to where it shall be, before it takes its own name whole.
//
//   temporary_name("run/config.toml");                       // "run/.config.toml.partial-812-0"
//   target_of_temporary(".config.toml.partial-812-0");       // "config.toml"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace tethys {

// In the same folder, so that the rename stays within one file system; its own for each process and each call.
Path temporary_name(const Path& path);

// The file name for which this one stands in; nothing if it is no temporary name.
std::optional<std::string> target_of_temporary(std::string_view name);

// Removes from a folder what stands in for files of this extension since an hour or more: what processes left that were
// killed while they wrote. No failure is one here.
void remove_abandoned(const Path& folder, std::string_view extension);

}  // namespace tethys
