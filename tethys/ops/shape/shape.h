// Ops that move elements about and compute nothing.
#pragma once

#include <span>

#include "ir/graph.h"

namespace tethys {

// Dimension i of x becomes dimension dims[i] of the result, of the same size; the other dimensions are new.
// `dims` ascends.
Value broadcast(Value x, Dims shape, Dims dims);

// The same elements in row-major order under another shape. Records nothing where the shape is the same.
Value reshape(Value x, Dims shape);

// Dimension i of the result is dimension permutation[i] of x. Records nothing for the identity.
Value transpose(Value x, Dims permutation);

// Elements start, start + stride, … < limit of each dimension.
Value slice(Value x, Dims start, Dims limit, Dims strides = {});
// One dimension only.
Value slice_dim(Value x, int64_t dim, int64_t start, int64_t limit);

// A window of shape `sizes` at `starts` (one s32 scalar per dimension), moved inside x where it would stick out.
Value dynamic_slice(Value x, std::span<const Value> starts, Dims sizes);
// x with `update` written at `starts`, moved inside as above.
Value dynamic_update_slice(Value x, Value update, std::span<const Value> starts);

// `value` (a scalar) before and after each dimension.
Value pad(Value x, Value value, Dims low, Dims high);

Value concatenate(std::span<const Value> parts, int64_t dim);

}  // namespace tethys
