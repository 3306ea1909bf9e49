// The scanner of ascii_classes() (splitter.h), which needs no table of Unicode.
#pragma once

#include <cstddef>
#include <string_view>

namespace tethys {

// The same as a regex, an alternative per class: letters, digits, marks, then white space. Every byte of a character
// beyond ASCII is 0x80 or more, so that classes of bytes and classes of characters cut alike.
inline constexpr std::string_view kAsciiPattern =
    R"( ?[^\x00-\x40\x5B-\x60\x7B-\x7F]+|[0-9]{1,3}| ?[\x00-\x08\x0E-\x1F\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7F]+|)"
    R"([\x09-\x0D\x20]*[\x0A\x0D]+|[\x09-\x0D\x20]+(?![^\x09-\x0D\x20])|[\x09-\x0D\x20]+)";

size_t ascii_piece_end(std::string_view text, size_t begin);

}  // namespace tethys
