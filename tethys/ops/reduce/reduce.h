// Reductions over whole dimensions, which the result no longer has.
#pragma once

#include "ir/graph.h"

namespace tethys {

Value reduce(Value x, Reduction reduction, Dims dims);
inline Value reduce_sum(Value x, Dims dims) { return reduce(x, Reduction::Sum, std::move(dims)); }

// The neutral element of a reduction in a dtype: 0, −∞ (or the lowest integer), +∞ (or the highest).
double neutral_of(Reduction reduction, DType dtype);

// "stablehlo.add", "stablehlo.maximum", "stablehlo.minimum"
const char* stablehlo_of(Reduction reduction);

// A region of two scalars that reduces them.
stablehlo::Region reduction_region(Reduction reduction, DType dtype);

const char* name_of(Reduction reduction);

}  // namespace tethys
