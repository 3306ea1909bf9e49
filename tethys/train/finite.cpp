#include "train/finite.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace tethys {
namespace {

// All bits of the exponent are set in infinities and NaNs alone (IEEE 754, 3.4).
template <typename Bits>
bool none_has(Bits exponent, std::span<const std::byte> bytes) {
  bool found = false;
  for (size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + at, sizeof(Bits));
    found |= (bits & exponent) == exponent;
  }
  return !found;
}

}  // namespace

bool all_finite(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::F64: return none_has<uint64_t>(0x7FF0'0000'0000'0000, bytes);
    case DType::F32: return none_has<uint32_t>(0x7F80'0000, bytes);
    case DType::BF16: return none_has<uint16_t>(0x7F80, bytes);
    case DType::F16: return none_has<uint16_t>(0x7C00, bytes);
    default: return true;
  }
}

std::vector<PieceSource> finite_only(std::vector<PieceSource> pieces, int64_t step) {
  for (PieceSource& piece : pieces) {
    const auto check = [name = piece.name, dtype = piece.type.dtype, step](std::span<const std::byte> bytes) {
      if (all_finite(dtype, bytes)) return;
      throw NotFiniteError(
          fmt::format("after step {} {} holds values that are not finite: that step is not saved; a lower "
                      "optimizer.lr may help",
                      step, name));
    };
    if (piece.view) {
      piece.view = [check, view = std::move(piece.view)] {
        const std::span<const std::byte> bytes = view();
        check(bytes);
        return bytes;
      };
    } else {
      piece.read = [check, read = std::move(piece.read)](std::span<std::byte> bytes) {
        read(bytes);
        check(bytes);
      };
    }
  }
  return pieces;
}

}  // namespace tethys
