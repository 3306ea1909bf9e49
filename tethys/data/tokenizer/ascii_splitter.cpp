#include "data/tokenizer/ascii_splitter.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tethys {
namespace {

enum class Class : uint8_t { Letter, Digit, Space, Mark };

constexpr Class classify(int byte) {
  if ((byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte >= 0x80) return Class::Letter;
  if (byte >= '0' && byte <= '9') return Class::Digit;
  if (byte == ' ' || (byte >= '\t' && byte <= '\r')) return Class::Space;
  return Class::Mark;
}

constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (int byte = 0; byte < 256; ++byte) classes[static_cast<size_t>(byte)] = classify(byte);
  return classes;
}();

Class class_at(std::string_view text, size_t i) { return kClasses[static_cast<uint8_t>(text[i])]; }

size_t run_end(std::string_view text, size_t begin, size_t limit) {
  size_t end = begin;
  while (end < limit && class_at(text, end) == class_at(text, begin)) ++end;
  return end;
}

size_t white_space_end(std::string_view text, size_t begin) {
  size_t end = run_end(text, begin, text.size());
  for (size_t i = end; i > begin; --i) {
    if (text[i - 1] == '\n' || text[i - 1] == '\r') return i;
  }
  bool before_word = end < text.size() && end - begin > 1;
  return before_word ? end - 1 : end;
}

}  // namespace

size_t ascii_piece_end(std::string_view text, size_t begin) {
  if (text[begin] == ' ' && begin + 1 < text.size()) {
    Class next = class_at(text, begin + 1);
    if (next == Class::Letter || next == Class::Mark) return run_end(text, begin + 1, text.size());
  }
  switch (class_at(text, begin)) {
    case Class::Space: return white_space_end(text, begin);
    case Class::Digit: return run_end(text, begin, std::min(begin + 3, text.size()));
    default: return run_end(text, begin, text.size());
  }
}

}  // namespace tethys
