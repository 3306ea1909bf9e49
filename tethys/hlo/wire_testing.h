// Bytes of programs, for tests: what a compiler would write, field by field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tethys::hlo {

// Protocol buffers' wire format, written by hand: a key, then a varint or a length and bytes.
inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value % 128 + 128);
  return bytes + static_cast<char>(value);
}
inline std::string number(int field, uint64_t value) {
  return varint(static_cast<uint64_t>(field) * 8) + varint(value);
}
inline std::string bytes(int field, const std::string& content) {
  return varint(static_cast<uint64_t>(field) * 8 + 2) + varint(content.size()) + content;
}

inline std::string shape_bytes(int element, const std::vector<int64_t>& dims) {
  std::string packed;
  for (int64_t d : dims) packed += varint(d);
  return number(2, element) + bytes(3, packed);
}

constexpr int kF32 = 11, kBf16 = 16;

inline std::string instruction(int64_t id, const std::string& opcode, const std::string& shape,
                               const std::string& more = "") {
  return bytes(
      2, bytes(1, opcode + "." + std::to_string(id)) + bytes(2, opcode) + bytes(3, shape) + number(35, id) + more);
}

}  // namespace tethys::hlo
