#include "values/host_tensor.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace tethys {
namespace {

// Reads and writes one element through its C++ type; bf16 and f16 go through the bit functions below.
float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t to_bf16(double value) {
  const float rounded = static_cast<float>(value);
  uint32_t bits = std::bit_cast<uint32_t>(rounded);
  if (std::isnan(rounded)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  bits += 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>(bits >> 16);
}

double load(DType dtype, const std::byte* p) {
  auto read = [p]<typename T>(T) {
    T v;
    std::memcpy(&v, p, sizeof(T));
    return v;
  };
  switch (dtype) {
    case DType::Bool:
    case DType::U8: return read(uint8_t{});
    case DType::S8: return read(int8_t{});
    case DType::S16: return read(int16_t{});
    case DType::S32: return read(int32_t{});
    case DType::S64: return static_cast<double>(read(int64_t{}));
    case DType::U16: return read(uint16_t{});
    case DType::U32: return read(uint32_t{});
    case DType::U64: return static_cast<double>(read(uint64_t{}));
    case DType::F16: return static_cast<double>(read(_Float16{}));
    case DType::BF16: return from_bf16(read(uint16_t{}));
    case DType::F32: return read(float{});
    case DType::F64: return read(double{});
  }
  internal_error("dtype {}", static_cast<int>(dtype));
}

void store(DType dtype, std::byte* p, double value) {
  auto write = [p](auto v) { std::memcpy(p, &v, sizeof(v)); };
  switch (dtype) {
    case DType::Bool: return write(static_cast<uint8_t>(value != 0));
    case DType::U8: return write(static_cast<uint8_t>(value));
    case DType::S8: return write(static_cast<int8_t>(value));
    case DType::S16: return write(static_cast<int16_t>(value));
    case DType::S32: return write(static_cast<int32_t>(value));
    case DType::S64: return write(static_cast<int64_t>(value));
    case DType::U16: return write(static_cast<uint16_t>(value));
    case DType::U32: return write(static_cast<uint32_t>(value));
    case DType::U64: return write(static_cast<uint64_t>(value));
    case DType::F16: return write(static_cast<_Float16>(value));
    case DType::BF16: return write(to_bf16(value));
    case DType::F32: return write(static_cast<float>(value));
    case DType::F64: return write(value);
  }
}

}  // namespace

HostTensor::HostTensor(TensorType type, std::vector<std::byte> bytes)
    : type_(std::move(type)), bytes_(std::move(bytes)) {
  require(static_cast<int64_t>(bytes_.size()) == type_.bytes(), "{} bytes for a tensor of type {}", bytes_.size(),
          to_string(type_));
}

HostTensor HostTensor::from_doubles(TensorType type, std::span<const double> values) {
  HostTensor t(std::move(type));
  require(t.type_.elements() == static_cast<int64_t>(values.size()), "{} values for a tensor of type {}", values.size(),
          to_string(t.type_));
  for (size_t i = 0; i < values.size(); ++i) store(t.type_.dtype, &t.bytes_[i * size_of(t.type_.dtype)], values[i]);
  return t;
}

std::vector<double> HostTensor::to_doubles() const {
  std::vector<double> values(static_cast<size_t>(type_.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = load(type_.dtype, &bytes_[i * size_of(type_.dtype)]);
  return values;
}

}  // namespace tethys
