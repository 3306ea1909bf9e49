// safetensors: named tensors in one file. A u64 header length, a JSON header, then the bytes, end to end.
//
// The reader maps the file and believes nothing in it: every number is checked before a tensor is handed out, and what
// does not hold is a UserError that names the file and the tensor. Names are data, never paths.
//
//   SafetensorsFile file("model.safetensors");
//   for (const SafetensorsEntry& e : file.entries()) use(e.name, e.type, file.bytes(e));
//
//   write_safetensors("a.safetensors", {{"w", type, [&](std::span<std::byte> out) { fill(out); }}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/hashed_file.h"
#include "values/shape.h"

namespace tethys {

struct SafetensorsEntry {
  std::string name;
  TensorType type;
  uint64_t begin = 0;  // in the data that follows the header
  uint64_t end = 0;
};

// Owns the mapping: spans that it gave are valid while it lives. Reading is safe from many threads.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const Path& path) : SafetensorsFile(MappedFile(path), path) {}
  SafetensorsFile(MappedFile mapped, const Path& path);  // of this file

  // In the order of their bytes.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // Null if there is none of that name.
  const SafetensorsEntry* find(const std::string& name) const;
  // Row-major, little-endian; not aligned to the element.
  std::span<const std::byte> bytes(const SafetensorsEntry& entry) const;
  // See MappedFile.
  void let_go(std::span<const std::byte> bytes) const { file_.let_go(bytes); }

 private:
  MappedFile file_;
  std::span<const std::byte> data_;
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, size_t> by_name_;
  std::map<std::string, std::string> metadata_;
};

struct SafetensorsSource {
  std::string name;
  TensorType type;
  // Fills the tensor's bytes; called once, when its turn comes, so that one tensor at a time is in memory. Not called
  // for an empty tensor.
  std::function<void(std::span<std::byte>)> read;
  // Where the bytes lie in memory anyway, in place of `read`: gives them, and they stay until the next one's turn.
  std::function<std::span<const std::byte>()> view = {};
};

// Writes the file, which appears as a whole. The tensors with the widest elements come first, then by name, so that
// each is aligned.
WrittenFile write_safetensors(const Path& path, std::vector<SafetensorsSource> tensors,
                              const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace tethys
