// The final projection and its cross-entropy as one kernel: no caller sees the logits, so a lowering need never hold
// all of them.
//
//   B batch   S sequence   D width   V vocabulary
//
//   Tensor loss_sum = linear_cross_entropy(x_BSD, w_VD, labels_BS);
//
// The sum over valid labels of −log softmax(x wᵀ)[label], at least in float32. Labels of −100 are ignored. The forward
// computes the gradients for a cotangent of 1 while it has the logits; the backward multiplies them by the cotangent
// (Hsu et al., Liger Kernel, 2024). Where only the loss is used, they are dead code.
#pragma once

#include "ops/kernel/kernel.h"
#include "ops/tensor.h"
#include "values/label.h"

namespace tethys {

// (x, w, labels) → (loss sum, gradient of x, gradient of w); a label that is kIgnoredLabel does not count.
extern const KernelRecord linear_cross_entropy_kernel;

struct LinearCrossEntropyAttributes {
  DType weight_gradient = DType::F32;
  bool operator==(const LinearCrossEntropyAttributes&) const = default;
};
std::string describe(const LinearCrossEntropyAttributes& attributes);

Tensor linear_cross_entropy(const Tensor& x_BSD, const Tensor& w_VD, const Tensor& labels_BS);

}  // namespace tethys
