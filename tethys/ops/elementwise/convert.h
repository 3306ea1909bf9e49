// convert(x, dtype): the same values in another dtype. Records nothing where the dtype is the same.
#pragma once

#include "ir/graph.h"

namespace tethys {

Value convert(Value x, DType dtype);

}  // namespace tethys
