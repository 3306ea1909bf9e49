// HostTensor: bytes on the host with a type, row-major and contiguous. It owns its bytes; copy and move it freely.
//
//   HostTensor t = HostTensor::of<float>({2, 2}, {1, 2, 3, 4});
//   t.as<float>()[3];  // 4
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "values/shape.h"

namespace tethys {

class HostTensor {
 public:
  HostTensor() = default;
  // Zeros.
  explicit HostTensor(TensorType type) : type_(std::move(type)), bytes_(static_cast<size_t>(type_.bytes())) {}
  HostTensor(TensorType type, std::vector<std::byte> bytes);

  // From C++ values; T decides the dtype (bool is not one: use uint8_t with HostTensor(type, bytes)).
  template <typename T>
  static HostTensor of(Dims dims, const std::vector<T>& values);
  template <typename T>
  static HostTensor scalar(T value) {
    return of<T>({}, std::vector<T>{value});
  }
  // From doubles, rounded to nearest even for any dtype.
  static HostTensor from_doubles(TensorType type, std::span<const double> values);

  const TensorType& type() const { return type_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }

  // The elements as T, whose size must be the dtype's.
  template <typename T>
  std::span<const T> as() const;
  template <typename T>
  std::span<T> as();

  // Every element as a double, whatever the dtype.
  std::vector<double> to_doubles() const;

  bool operator==(const HostTensor&) const = default;

 private:
  TensorType type_;
  std::vector<std::byte> bytes_;
};

// The dtype of a C++ type.
template <typename T>
constexpr DType dtype_of();
// clang-format off
template <> constexpr DType dtype_of<int8_t>() { return DType::S8; }
template <> constexpr DType dtype_of<int16_t>() { return DType::S16; }
template <> constexpr DType dtype_of<int32_t>() { return DType::S32; }
template <> constexpr DType dtype_of<int64_t>() { return DType::S64; }
template <> constexpr DType dtype_of<uint8_t>() { return DType::U8; }
template <> constexpr DType dtype_of<uint16_t>() { return DType::U16; }
template <> constexpr DType dtype_of<uint32_t>() { return DType::U32; }
template <> constexpr DType dtype_of<uint64_t>() { return DType::U64; }
template <> constexpr DType dtype_of<float>() { return DType::F32; }
template <> constexpr DType dtype_of<double>() { return DType::F64; }
// clang-format on

template <typename T>
HostTensor HostTensor::of(Dims dims, const std::vector<T>& values) {
  HostTensor t(TensorType{dtype_of<T>(), std::move(dims)});
  require(t.type_.elements() == static_cast<int64_t>(values.size()), "{} values for a tensor of type {}", values.size(),
          to_string(t.type_));
  std::span<T> out = t.as<T>();
  for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return t;
}

template <typename T>
std::span<const T> HostTensor::as() const {
  require(sizeof(T) == size_of(type_.dtype), "a tensor of type {} read as elements of {} bytes", to_string(type_),
          sizeof(T));
  return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
}

template <typename T>
std::span<T> HostTensor::as() {
  require(sizeof(T) == size_of(type_.dtype), "a tensor of type {} read as elements of {} bytes", to_string(type_),
          sizeof(T));
  return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
}

}  // namespace tethys
