#include "base/shown.h"

#include <fmt/format.h>

#include "base/number.h"

namespace tethys {
namespace {

constexpr size_t kMost = 1024, kBegin = 768, kEnd = 128;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The bytes of the character that the text begins with; 0 if it begins with none of UTF-8.
size_t length_of_first(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
  }
  return length;
}

// Terminals obey the controls of ASCII, and those of Latin-1, U+0080 to U+009F.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = length_of_first(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length > 0 && !is_control(character)) {
      out += character;
    } else if (character == "\n") {
      out += "\\n";
    } else if (character == "\t") {
      out += "\\t";
    } else {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace

std::string shown(std::string_view text) {
  if (text.size() <= kMost) return escaped(text);
  size_t begin = kBegin, end = text.size() - kEnd;
  while (begin > 0 && continues(text[begin])) --begin;
  while (end < text.size() && continues(text[end])) ++end;
  return fmt::format("{}… ({} bytes more) …{}", escaped(text.substr(0, begin)),
                     with_commas(static_cast<int64_t>(end - begin)), escaped(text.substr(end)));
}

}  // namespace tethys
