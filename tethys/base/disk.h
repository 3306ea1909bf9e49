// The system calls that change a disk, at one place: whatever base/file writes, flushes, renames, makes or removes goes
// through here. A test may put a hook before them, which counts the calls, lets one fail as a full or broken disk
// would, or ends the process there (base/faulty_disk.h). Without a hook they are the system's calls and nothing more.
//
// As the system's calls they return -1 and set errno; an interrupted call is repeated. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string_view>

namespace tethys::disk {

enum class Operation : uint8_t { Create, Write, Flush, Rename, Remove, MakeFolder, FlushFolder };
std::string_view name_of(Operation operation);

// What the hook lets a call do.
struct Fault {
  int error = 0;                                        // it fails with this errno, having done nothing
  size_t at_most = std::numeric_limits<size_t>::max();  // a write takes only so many bytes, as on a disk nearly full
};

// Called before each operation, on whichever thread does it; `bytes` are those of a write. `path` is what is changed:
// of a rename the new name.
using Hook = Fault (*)(Operation operation, const std::filesystem::path& path, size_t bytes);

// Null: none. Set while no other thread writes files.
void set_hook(Hook hook);

// A descriptor of a file that is there now, and can be written to.
int create(const std::filesystem::path& path, int flags);
ssize_t write(int fd, std::span<const std::byte> bytes, const std::filesystem::path& path);
int flush(int fd, const std::filesystem::path& path);
int flush_folder(int fd, const std::filesystem::path& path);
int rename(const std::filesystem::path& from, const std::filesystem::path& to);
int remove_file(const std::filesystem::path& path);
int remove_folder(const std::filesystem::path& path);  // an empty one
int make_folder(const std::filesystem::path& path);

}  // namespace tethys::disk
