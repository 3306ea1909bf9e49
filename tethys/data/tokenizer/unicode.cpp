#include "data/tokenizer/unicode.h"

#include "data/tokenizer/unicode_tables.h"

namespace tethys {
namespace {

bool continues(std::string_view text, size_t i) {
  return i < text.size() && (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80;
}

char32_t low_bits(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]) & 0x3F; }

}  // namespace

const std::vector<uint8_t>& unicode_classes() {
  static const std::vector<uint8_t> classes = [] {
    std::vector<uint8_t> bits(kStrayByte + 256);
    for (const ClassRange& range : class_ranges()) {
      for (char32_t c = range.first; c <= range.last; c += range.step) bits[c] = range.bits;
    }
    return bits;
  }();
  return classes;
}

Character long_character_at(std::string_view text, size_t i) {
  auto lead = static_cast<uint8_t>(text[i]);
  const Character stray{kStrayByte + lead, 1};
  if (lead < 0xC2 || lead > 0xF4 || !continues(text, i + 1)) return stray;
  char32_t code = low_bits(text, i + 1);
  if (lead < 0xE0) return {static_cast<char32_t>(lead & 0x1F) << 6 | code, 2};
  if (!continues(text, i + 2)) return stray;
  code = code << 6 | low_bits(text, i + 2);
  if (lead < 0xF0) {
    code |= static_cast<char32_t>(lead & 0x0F) << 12;
    bool surrogate = code >= 0xD800 && code < 0xE000;
    if (code < 0x800 || surrogate) return stray;
    return {code, 3};
  }
  if (!continues(text, i + 3)) return stray;
  code = static_cast<char32_t>(lead & 0x07) << 18 | code << 6 | low_bits(text, i + 3);
  if (code < 0x10000 || code > 0x10FFFF) return stray;
  return {code, 4};
}

size_t character_before(std::string_view text, size_t end) {
  for (size_t size = 2; size <= 4 && size <= end; ++size) {
    if (character_at(text, end - size).size == size) return end - size;
  }
  return end - 1;
}

void append_utf8(std::string& text, char32_t code) {
  auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code >= kStrayByte) {
    text += static_cast<char>(code - kStrayByte);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace tethys
