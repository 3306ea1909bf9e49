// Matrix products of groups of rows, each group with a matrix of its own. How many rows a group has is known only at
// run time, and is data.
//
//   M rows   E groups (experts)   K and N the sizes of a matrix
//
//   Tensor y_MN = grouped_matmul(x_MK, w_ENK, counts_E);   // y[m] = w[e] x[m]
//
// The rows of group 0 come first, then those of group 1, and so on; rows behind the sum of the counts give 0.
#pragma once

#include "ops/kernel/kernel.h"
#include "ops/tensor.h"

namespace tethys {

// (x [M,K], w [E,N,K], counts s32 [E]) → [M,N]
extern const KernelRecord grouped_matmul_kernel;
// (g [M,N], x [M,K], counts s32 [E]) → [E,N,K]: for each group the sum of its rows' g xᵀ, the gradient of w.
extern const KernelRecord grouped_matmul_weights_kernel;

struct GroupedMatmulAttributes {
  // w is [E,K,N].
  bool transposed = false;
  bool operator==(const GroupedMatmulAttributes&) const = default;
};
std::string describe(const GroupedMatmulAttributes& attributes);

struct GroupedMatmulWeightsAttributes {
  DType result = DType::F32;
  bool operator==(const GroupedMatmulWeightsAttributes&) const = default;
};
std::string describe(const GroupedMatmulWeightsAttributes& attributes);

Tensor grouped_matmul(const Tensor& x_MK, const Tensor& w_ENK, const Tensor& counts_E, bool transposed = false);
Tensor grouped_matmul_weights(const Tensor& g_MN, const Tensor& x_MK, const Tensor& counts_E, DType result);

}  // namespace tethys
