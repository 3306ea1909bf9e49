#include "values/shape.h"

#include <fmt/ranges.h>

namespace tethys {

int64_t element_count(const Dims& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

Dims dim_range(int64_t begin, int64_t end) {
  Dims dims;
  for (int64_t d = begin; d < end; ++d) dims.push_back(d);
  return dims;
}

std::string to_string(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

std::string to_string(const TensorType& type) { return fmt::format("{}{}", name_of(type.dtype), to_string(type.dims)); }

}  // namespace tethys
