#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace tethys {
namespace {

std::string counting(size_t n) {
  std::string s;
  for (size_t i = 0; i < n; ++i) s += static_cast<char>(i % 251);
  return s;
}

// The expected values are those of PyPI xxhash 4.1.0: xxhash.xxh3_128_hexdigest(...).
TEST(Hash, AgreesWithTheReferenceImplementation) {
  EXPECT_EQ(hash_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_hex("tethys"), "55445d3ac56f015c3136c5136353839a");
  EXPECT_EQ(hash_hex(counting(100000)), "54182c58bbb1337c42c23aeead96750d");
}

TEST(Hash, OfPartsIsTheHashOfTheWhole) {
  const std::string text = counting(100000);
  Hasher hasher;
  size_t at = 0;
  for (size_t n = 1; at < text.size(); n = 2 * n + 1) {
    const std::string_view part = std::string_view(text).substr(at, n);
    hasher.update(std::as_bytes(std::span(part)));
    at += part.size();
  }
  EXPECT_EQ(hasher.hex(), hash_hex(text));
}

}  // namespace
}  // namespace tethys
