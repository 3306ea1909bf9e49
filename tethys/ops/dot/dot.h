// dot: matrix multiplication in general form. Result dimensions are the batch dimensions, then the free ones of the
// left operand, then the free ones of the right.
#pragma once

#include "ir/graph.h"

namespace tethys {

struct DotDims {
  Dims lhs_batch, rhs_batch;
  Dims lhs_contract, rhs_contract;
  bool operator==(const DotDims&) const = default;
};

// Products accumulate in at least float32; the result has dtype `result` (default: that of the operands).
Value dot(Value lhs, Value rhs, DotDims dims, std::optional<DType> result = std::nullopt);

// The dtype in which the gradient of `value` is wanted: wider than its own where it is a parameter cast for compute.
DType gradient_dtype(Value value);

}  // namespace tethys
