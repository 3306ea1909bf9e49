// The generated tables (generate_unicode.py), for unicode.cpp and nfc.cpp to unfold.
#pragma once

#include <cstdint>
#include <span>

namespace tethys {

// Every `step`th character from first to last has these bits (UnicodeClass in unicode.h). Ranges interleave.
struct ClassRange {
  char32_t first;
  char32_t last;
  uint8_t step;
  uint8_t bits;
};
std::span<const ClassRange> class_ranges();

// Canonical combining classes that are not 0.
struct CombiningRange {
  char32_t first;
  char32_t last;
  uint8_t combining;
};
std::span<const CombiningRange> combining_ranges();

// Canonical decompositions, one step: to one character, or to two, which NFC composes again unless they are excluded.
struct Singleton {
  char32_t character;
  char32_t to;
};
struct Pair {
  char32_t character;
  char32_t first;
  char32_t second;
  bool composes;
};
std::span<const Singleton> singletons();
std::span<const Pair> pairs();

}  // namespace tethys
