// Changing the dtype of floating-point bytes on the host, for exports that are narrower than the state and for loading
// them. Rounds to nearest even.
#pragma once

#include <cstddef>
#include <span>

#include "values/dtype.h"

namespace tethys {

// Whether it is a dtype that convert() takes.
bool is_convertible(DType dtype);

// `source` holds elements of `from`, `target` as many of `to`.
void convert(DType from, std::span<const std::byte> source, DType to, std::span<std::byte> target);

}  // namespace tethys
