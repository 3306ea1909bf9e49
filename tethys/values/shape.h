// Shapes and tensor types: plain values, printed as "f32[8,512]".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "values/dtype.h"

namespace tethys {

using Dims = std::vector<int64_t>;

// The number of elements; 1 for rank 0.
int64_t element_count(const Dims& dims);

// The numbers begin … end − 1: neighbouring dimensions.
Dims dim_range(int64_t begin, int64_t end);

// "[8,512]"
std::string to_string(const Dims& dims);

struct TensorType {
  DType dtype = DType::F32;
  Dims dims;

  bool operator==(const TensorType&) const = default;
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t elements() const { return element_count(dims); }
  int64_t bytes() const { return elements() * static_cast<int64_t>(size_of(dtype)); }
  TensorType with_dtype(DType other) const { return {other, dims}; }
};

// "f32[8,512]"
std::string to_string(const TensorType& type);

}  // namespace tethys
