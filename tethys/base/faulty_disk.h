// FaultyDisk: while it lives, all files that base/file writes lie on a disk that counts its operations and fails at a
// chosen one. For tests; one at a time in a process.
//
//   FaultyDisk disk({.at = 7, .fault = FaultyDisk::Fault::Full});   // from the 8th operation on there is no space
//   save(…);                                                        // DiskError: … No space left on device
//   disk.stages();                                                  // what was done: "write process-00000.safetensors"
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/file.h"

namespace tethys {

class FaultyDisk {
 public:
  enum class Fault : uint8_t {
    None,    // only counts
    Full,    // what needs space fails with ENOSPC, from there on; a first write still takes half of its bytes
    Broken,  // this operation fails with EIO
    Short,   // this write takes half of its bytes, and all is well
    Kill,    // the process is killed before the operation, a write in its middle
  };

  struct Plan {
    int64_t at = std::numeric_limits<int64_t>::max();  // which operation, from 0
    Fault fault = Fault::None;
    // Only operations on these paths count; empty: all. In a temporary file's path its own name.
    std::function<bool(const Path& path)> counts = {};
    // Called with the stage of each that counts, before it is done.
    std::function<void(const std::string& stage)> seen = {};
  };

  explicit FaultyDisk(Plan plan);
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  ~FaultyDisk();

  // The operations that counted so far, in order, as stages.
  std::vector<std::string> stages() const;

  // What an operation is called where its number does not matter: "rename step-N", "write manifest.json".
  static std::string stage_of(disk::Operation operation, const Path& path);

 private:
  struct State;
  static disk::Fault hook(disk::Operation operation, const Path& path, size_t bytes);
  static State* state_;
};

}  // namespace tethys
