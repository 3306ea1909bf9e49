// Hashing of bytes: XXH3 with 128 bits, as 32 lower-case hex digits in its canonical (big-endian) order, the same text
// that `xxhsum -H2` prints. It finds damage and names content; it is no defence against forgery.
//
//   hash_hex("abc");                    // of one run of bytes
//   Hasher h; h.update(a); h.update(b); h.hex();   // of their concatenation
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace tethys {

std::string hash_hex(std::span<const std::byte> bytes);
std::string hash_hex(std::string_view text);

// Owned by one thread at a time.
class Hasher {
 public:
  Hasher();
  void update(std::span<const std::byte> bytes);
  // The hash of all bytes so far; more may follow.
  std::string hex() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace tethys
