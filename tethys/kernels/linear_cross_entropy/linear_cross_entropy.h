// The final projection and its cross-entropy as one kernel: no caller sees the logits, so a lowering need never hold
// all of them.
//
//   B batch   S sequence   D width   V vocabulary
//
//   Tensor loss_sum = linear_cross_entropy(x_BSD, w_VD, labels_BS, 128256);
//
// The sum over valid labels of −log softmax(x wᵀ)[label], at least in float32. Labels of −100 are ignored. The forward
// computes the gradients for a cotangent of 1 while it has the logits; the backward multiplies them by the cotangent
// (Hsu et al., Liger Kernel, 2024). Where only the loss is used, they are dead code.
//
// The vocabulary may be sharded: then each device has the logits of its words, and of the others' only their maximum
// and sum (Shoeybi et al., Megatron-LM, 2019, section 3).
#pragma once

#include "ops/kernel/kernel.h"
#include "ops/tensor.h"
#include "values/label.h"

namespace tethys {

// (x, w, labels) → (loss sum, gradient of x, gradient of w); a label that is kIgnoredLabel does not count.
extern const KernelRecord linear_cross_entropy_kernel;

struct LinearCrossEntropyAttributes {
  DType weight_gradient = DType::F32;
  // The words that there are; rows of w behind them are padding.
  int64_t vocabulary = 0;
  // The most tokens whose logits exist at a time; 0: those of all.
  int64_t chunk = 0;
  bool operator==(const LinearCrossEntropyAttributes&) const = default;
};
std::string describe(const LinearCrossEntropyAttributes& attributes);

// `vocabulary`: the rows of w that are words; those behind them count for nothing. `chunk`: as in the attributes.
Tensor linear_cross_entropy(const Tensor& x_BSD, const Tensor& w_VD, const Tensor& labels_BS, int64_t vocabulary,
                            int64_t chunk = 0);

}  // namespace tethys
