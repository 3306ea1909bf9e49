// A font of 5 × 7 pixels for the labels of charts: digits, small letters and some signs.
#pragma once

#include <array>
#include <cstdint>

namespace tethys {

// Seven rows from the top; bit 4 is the left pixel. Capitals are drawn as small letters, what the font lacks as a box.
using Glyph = std::array<uint8_t, 7>;
const Glyph& glyph_of(char character);

}  // namespace tethys
