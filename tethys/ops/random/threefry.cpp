#include "ops/random/threefry.h"

#include <array>

namespace tethys {
namespace {

constexpr double kParity = 0x1BD11BDA;
constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};

Tensor rotate_left(const Tensor& x, int bits) {
  return shift_left(x, full_like(x, bits)) | shift_right_logical(x, full_like(x, 32 - bits));
}

}  // namespace

Words threefry2x32(const Words& key, const Words& counter) {
  const std::array<Tensor, 3> keys = {key.first, key.second, key.first ^ key.second ^ full_like(key.first, kParity)};
  Tensor a = counter.first + keys[0];
  Tensor b = counter.second + keys[1];
  for (int group = 0; group < 5; ++group) {
    for (int bits : kRotations[group % 2]) {
      a = a + b;
      b = rotate_left(b, bits) ^ a;
    }
    a = a + keys[(group + 1) % 3];
    b = b + (keys[(group + 2) % 3] + (group + 1));
  }
  return {a, b};
}

// The value is the middle of one of 2^n equal cells of (−1, 1), with n = 23 or 52 so that the middle is exact.
Tensor symmetric_uniform(const Words& bits, DType dtype) {
  require(dtype == DType::F32 || dtype == DType::F64, "uniform values of dtype {}", name_of(dtype));
  auto drop = [](const Tensor& word, int low_bits) { return shift_right_logical(word, full_like(word, low_bits)); };
  if (dtype == DType::F32) {
    const Tensor cell = cast(drop(bits.first, 9), DType::F32);
    return (cell * 2 + (1 - 0x1p23)) * 0x1p-23;
  }
  const Tensor cell = cast(bits.first, DType::F64) * 0x1p20 + cast(drop(bits.second, 12), DType::F64);
  return (cell * 2 + (1 - 0x1p52)) * 0x1p-52;
}

}  // namespace tethys
