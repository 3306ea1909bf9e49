// HashedFile: a file that appears as a whole, hashed while it is written. Writing it costs what writing costs: a large
// run of bytes is hashed on another thread meanwhile, and the disk begins before the last byte is there.
//
//   HashedFile file("step/process-00000.safetensors");
//   file.write(header);
//   file.write(tensor);
//   WrittenFile written = file.commit();
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace tethys {

struct WrittenFile {
  uint64_t size = 0;
  std::string hash;  // of the content, see base/hash.h
  bool operator==(const WrittenFile&) const = default;
};

// Of a file that is there, in one pass over it.
WrittenFile hash_file(const MappedFile& file);

class HashedFile {
 public:
  explicit HashedFile(const Path& path) : file_(path) {}

  // The bytes are done with when it returns.
  void write(std::span<const std::byte> bytes);
  WrittenFile commit();

 private:
  void flush();

  AtomicFile file_;
  Hasher hasher_;
  std::vector<std::byte> small_;  // runs too short for a call each
  uint64_t size_ = 0;
};

}  // namespace tethys
