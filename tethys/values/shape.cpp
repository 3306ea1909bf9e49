#include "values/shape.h"

#include <fmt/ranges.h>

namespace tethys {

int64_t element_count(const Dims& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

std::string to_string(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

std::string to_string(const TensorType& type) { return fmt::format("{}{}", name_of(type.dtype), to_string(type.dims)); }

}  // namespace tethys
