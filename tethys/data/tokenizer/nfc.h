// NFC, the normal form that composes (Unicode Standard Annex 15), as PyPI `tokenizers` has it: with the characters of
// Unicode 9 (generate_unicode.py). Bytes that are no UTF-8 stay as they are.
//
//   std::string storage;
//   nfc("e\u0301", storage);   // "\u00e9", in `storage`; text that is in NFC already is given back itself
#pragma once

#include <string>
#include <string_view>

namespace tethys {

std::string_view nfc(std::string_view text, std::string& storage);

}  // namespace tethys
