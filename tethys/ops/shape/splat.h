// Generators: values made from nothing. They have no placement of their own, so a gradient accumulator of zeros may
// become Partial and an iota may be made sharded.
#pragma once

#include "ir/graph.h"

namespace tethys {

// Every element equal to `value`, rounded to the dtype.
Value splat(Graph& graph, TensorType type, double value);
// The value of a splat node.
double splat_value(const Attributes& attributes);

// Whether it is a splat of zeros.
bool is_zero_splat(const Graph& graph, ValueId value);

// The index along dimension `dim`, for a shape; integer or floating dtype.
Value iota(Graph& graph, TensorType type, int64_t dim);
// The dimension that an iota node counts along.
int64_t iota_dim(const Attributes& attributes);

// Given elements; meant for small tensors, since they stand in the program's text. Replicated.
Value constant(Graph& graph, HostTensor value);

}  // namespace tethys
