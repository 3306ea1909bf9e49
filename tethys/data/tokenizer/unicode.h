// What the split patterns of tokenizers ask about characters, in the version of Unicode that Hugging Face's patterns
// know (generate_unicode.py), and UTF-8 in which any byte may stand where it should not.
//
//   Character c = character_at(text, i);   // c.code, c.size bytes
//   if (class_of(c.code) & kLetter) …
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tethys {

// Bits: \p{L}, of those [\p{Lu}\p{Lt}] and \p{Ll}, \p{M}, \p{N}, \s, \w.
enum UnicodeClass : uint8_t {
  kLetter = 1,
  kUpper = 2,
  kLower = 4,
  kMark = 8,
  kNumber = 16,
  kSpace = 32,
  kWord = 64,
};

// A byte that belongs to no character reads as this plus the byte: one character, of no class.
inline constexpr char32_t kStrayByte = 0x110000;

struct Character {
  char32_t code;
  uint8_t size;  // bytes
};

// One entry per character and per stray byte.
const std::vector<uint8_t>& unicode_classes();

// As character_at, for a byte beyond ASCII.
Character long_character_at(std::string_view text, size_t i);

inline Character character_at(std::string_view text, size_t i) {
  auto byte = static_cast<uint8_t>(text[i]);
  if (byte < 0x80) return {byte, 1};
  return long_character_at(text, i);
}

// Where the character ends that ends the text before `end` begins: UTF-8 backwards.
size_t character_before(std::string_view text, size_t end);

inline uint8_t class_of(char32_t code) { return unicode_classes()[code]; }

// Appends the character as UTF-8, a stray byte as itself.
void append_utf8(std::string& text, char32_t code);

}  // namespace tethys
