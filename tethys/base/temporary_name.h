// Temporary names: under one a file or folder is written next to where it shall be, before it takes its own name whole.
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

// Says that what was just made under a temporary name, and is open as `fd`, is being written, until all descriptors of
// it are closed. False if it is gone, and could not be opened or is not there any more: another process has just
// removed it as abandoned.
bool claim_temporary(int fd, const Path& temporary);

// Removes what stands in for this file or folder and no process has claimed: what those left that were killed while
// they wrote. No failure is one here.
void remove_abandoned_of(const Path& target);

// The same for all files of this extension in a folder that machines may share which see no lock of each other: only
// what was last written to an hour ago or earlier.
void remove_abandoned(const Path& folder, std::string_view extension);

}  // namespace tethys
