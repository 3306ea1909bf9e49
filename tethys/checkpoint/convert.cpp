#include "checkpoint/convert.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace tethys {
namespace {

struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  explicit BF16(double value) : BF16(to_odd(value)) {}
  // Half a unit of the place where it is cut, and one less where the even neighbour lies below.
  explicit BF16(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const bool nan = std::isnan(value);
    bits = static_cast<uint16_t>(nan ? (word >> 16) | 0x40U : (word + 0x7FFFU + ((word >> 16) & 1U)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  explicit operator double() const { return static_cast<float>(*this); }

 private:
  // A float between two bf16 values on the side where the double lies: rounding twice is then rounding once.
  static float to_odd(double value) {
    const auto nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest)) return nearest;
    const bool away = std::abs(static_cast<double>(nearest)) > std::abs(value);
    return std::bit_cast<float>((std::bit_cast<uint32_t>(nearest) - (away ? 1U : 0U)) | 1U);
  }
};

// Calls `use` with a value of the C++ type of the dtype.
template <typename Use>
void with_type(DType dtype, Use use) {
  switch (dtype) {
    case DType::F16: return use(_Float16{});
    case DType::BF16: return use(BF16{});
    case DType::F32: return use(float{});
    case DType::F64: return use(double{});
    default: internal_error("{} is not a floating-point dtype", name_of(dtype));
  }
}

template <typename From, typename To>
To converted(From value) {
  // float is exact for the narrow ones.
  if constexpr (sizeof(From) == 2 && sizeof(To) == 2) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

bool is_convertible(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F32 || dtype == DType::F64;
}

void convert(DType from, std::span<const std::byte> source, DType to, std::span<std::byte> target) {
  const size_t count = source.size() / size_of(from);
  require(count * size_of(from) == source.size() && count * size_of(to) == target.size(),
          "{} bytes of {} converted to {} of {}", source.size(), name_of(from), target.size(), name_of(to));
  with_type(from, [&]<typename From>(From) {
    with_type(to, [&]<typename To>(To) {
      for (size_t i = 0; i < count; ++i) {
        From value;
        std::memcpy(&value, source.data() + i * sizeof(From), sizeof(From));
        const To result = converted<From, To>(value);
        std::memcpy(target.data() + i * sizeof(To), &result, sizeof(To));
      }
    });
  });
}

}  // namespace tethys
