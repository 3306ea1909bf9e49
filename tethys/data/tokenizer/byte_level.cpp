#include "data/tokenizer/byte_level.h"

#include <algorithm>
#include <numeric>

namespace tethys {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr int kCharacters = 256 + 68;

constexpr std::array<uint16_t, 256> kCharacterOfByte = [] {
  std::array<uint16_t, 256> characters{};
  uint16_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    characters[static_cast<size_t>(byte)] = stands_for_itself(byte) ? static_cast<uint16_t>(byte) : next++;
  }
  return characters;
}();

constexpr std::array<int16_t, kCharacters> kByteOfCharacter = [] {
  std::array<int16_t, kCharacters> bytes{};
  for (int16_t& byte : bytes) byte = -1;
  for (size_t byte = 0; byte < 256; ++byte) bytes[kCharacterOfByte[byte]] = static_cast<int16_t>(byte);
  return bytes;
}();

}  // namespace

const std::array<uint8_t, 256>& byte_level_order() {
  static const std::array<uint8_t, 256> order = [] {
    std::array<uint8_t, 256> bytes;
    std::iota(bytes.begin(), bytes.end(), uint8_t{0});
    std::sort(bytes.begin(), bytes.end(),
              [](uint8_t a, uint8_t b) { return kCharacterOfByte[a] < kCharacterOfByte[b]; });
    return bytes;
  }();
  return order;
}

std::string to_byte_level(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) {
    uint16_t character = kCharacterOfByte[static_cast<uint8_t>(byte)];
    if (character < 0x80) {
      text += static_cast<char>(character);
    } else {  // all are below U+0800: two bytes of UTF-8
      text += static_cast<char>(0xC0 | (character >> 6));
      text += static_cast<char>(0x80 | (character & 0x3F));
    }
  }
  return text;
}

std::optional<std::string> from_byte_level(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    auto lead = static_cast<uint8_t>(text[i]);
    int character = lead;
    if (lead >= 0x80) {
      bool two_bytes =
          (lead & 0xE0) == 0xC0 && i + 1 < text.size() && (static_cast<uint8_t>(text[i + 1]) & 0xC0) == 0x80;
      if (!two_bytes) return std::nullopt;
      character = ((lead & 0x1F) << 6) | (static_cast<uint8_t>(text[++i]) & 0x3F);
    }
    if (character >= kCharacters || kByteOfCharacter[static_cast<size_t>(character)] < 0) return std::nullopt;
    bytes += static_cast<char>(kByteOfCharacter[static_cast<size_t>(character)]);
  }
  return bytes;
}

}  // namespace tethys
