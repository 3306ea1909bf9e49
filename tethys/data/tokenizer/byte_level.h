// The byte-level alphabet (Radford et al. 2019): tokenizer.json spells each byte as one printable character, so that
// any bytes are text. Printable Latin-1 bytes stand for themselves, the other 68 are U+0100 and on.
//
//   to_byte_level(" a");    // "Ġa"
//   from_byte_level("Ġa");  // " a"
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tethys {

// The 256 bytes in order of their characters: the order of the first 256 ids of a byte-level vocabulary.
const std::array<uint8_t, 256>& byte_level_order();

std::string to_byte_level(std::string_view bytes);

// The inverse; nothing if `text` holds a character outside of the alphabet.
std::optional<std::string> from_byte_level(std::string_view text);

}  // namespace tethys
