// ByteSource: the bytes of a file, a piece at a time and never all at once. A name that ends in .gz or .zst says that
// the file is compressed, and the bytes are then what it unpacks to, all members or frames of it.
//
//   std::unique_ptr<ByteSource> source = open_bytes("corpus.jsonl.zst");
//   while (size_t n = source->read(buffer)) use(buffer, n);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tethys {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Puts bytes at the front of `out`, which is not empty, and gives how many; 0 only at the end. UserError that names
  // the file if it cannot be read, is damaged, ends early, or goes on with something else.
  virtual size_t read(std::span<char> out) = 0;
  // How many bytes of the file were read so far: how far it is, also where it is compressed.
  virtual int64_t position() const = 0;
};

bool is_compressed(const std::string& path);

// `piece`: so many bytes of the file are read at a time.
std::unique_ptr<ByteSource> open_bytes(const std::string& path, size_t piece = size_t{1} << 16);

// All of it; nothing if that is more than `most` bytes.
std::optional<std::string> read_all(ByteSource& source, size_t most);

}  // namespace tethys
