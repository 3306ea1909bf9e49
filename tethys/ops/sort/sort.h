// Ops that order elements along one axis, and running sums along it. The axis is whole on every device.
#pragma once

#include <span>

#include "ir/graph.h"
#include "stablehlo/writer.h"

namespace tethys {

enum class Order : uint8_t { Ascending, Descending };

// Tensors of one shape, all reordered along `dim` as the first of them asks. Equal elements keep their order; NaN
// counts as larger than any number.
std::vector<Value> sort(std::span<const Value> tensors, int64_t dim, Order order = Order::Ascending);

struct TopK {
  Value values, indices;  // s32 along the axis
};

// The k largest elements along `dim`, largest first; of equal ones the lowest index first. The gradient is that of the
// values.
TopK top_k(Value x, int64_t dim, int64_t k);

// Element i of the result is the sum of elements 0 … i along `dim`, or of i … end where `reverse`.
Value cumulative_sum(Value x, int64_t dim, bool reverse = false);

// For records of such ops: sorts values of equal shapes in the text.
std::vector<stablehlo::Ssa> emit_sort(stablehlo::Writer& writer, const std::vector<stablehlo::Ssa>& tensors,
                                      int64_t dim, Order order);
// Undoes what sorting x did to `sorted`, which has x's shape.
Value unsorted(Value x, Value sorted, int64_t dim, Order order);

}  // namespace tethys
