// Attention, softmax(q kᵀ · scale) v, as a kernel: causal by position, within one segment (document), with keys and
// values that groups of query heads share.
//
//   B batch   S queries   T keys   H query heads = K·G   K key and value heads   G queries per key head   D head size
//
//   Attention a = attention({q_BSHD, k_BTKD, v_BTKD, positions_BS, positions_BT, segments_BS, segments_BT}, {scale});
//
// A query sees the keys of its own segment whose position is not after its own. A query that sees none gives 0.
#pragma once

#include "ops/kernel/kernel.h"
#include "ops/tensor.h"

namespace tethys {

extern const KernelRecord attention_kernel;
// Operands: those of attention, its two results, and the cotangent of `out`. Results: cotangents of q, k and v.
extern const KernelRecord attention_backward_kernel;

struct AttentionAttributes {
  double scale = 1;
  // The most queries, and keys, whose scores exist at a time (chunked.h); 0: those of all.
  int64_t block = 0;
  bool operator==(const AttentionAttributes&) const = default;
};
std::string describe(const AttentionAttributes& attributes);

struct Attention {
  Tensor out_BSHD;
  Tensor log_sum_exp_BHS;  // of the scaled scores, at least in float32; −∞ where nothing is seen. Has no gradient.
};

struct AttentionOperands {
  Tensor q_BSHD, k_BTKD, v_BTKD;
  Tensor q_positions_BS, k_positions_BT, q_segments_BS, k_segments_BT;  // s32
};

Attention attention(const AttentionOperands& operands, const AttentionAttributes& attributes);

}  // namespace tethys
