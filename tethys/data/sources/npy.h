// The header of NumPy's .npy, of the arrays that hold tokens: one row of '<u2', '<u4' or '<i4'.
//
//   NpyTokens tokens = read_npy_header(file.bytes(), "tokens.npy");
//   file.bytes().subspan(tokens.offset);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tethys {

struct NpyTokens {
  size_t offset = 0;  // of the first token in the file, which the tokens fill to its end
  int64_t count = 0;
  int token_bytes = 4;
  bool is_signed = false;
};

// UserError that opens with `name` and says what is wrong: no .npy, another version, a header that is damaged, another
// dtype, order or rank, a file that is longer or shorter than its shape says.
NpyTokens read_npy_header(std::span<const std::byte> file, const std::string& name);

}  // namespace tethys
