#include "kernels/attention/reference.h"

#include <limits>

#include "kernels/attention/attention.h"

namespace tethys {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Query heads as groups of key heads, so that keys and values are never repeated; heads in front, so that every product
// below is of matrices as they lie and the largest tensors, of S·T elements, are never transposed.
Tensor by_head(const Tensor& x_BSHD, int64_t key_heads) {
  const Tensor x_BSKGD = reshape(x_BSHD, {x_BSHD.size(0), x_BSHD.size(1), key_heads, -1, x_BSHD.size(3)});
  return permute(x_BSKGD, {0, 2, 3, 1, 4});
}

// The inverse of by_head.
Tensor by_row(const Tensor& x_BKGSD, const Dims& shape) { return reshape(permute(x_BKGSD, {0, 3, 1, 2, 4}), shape); }

struct Scores {
  Tensor scores_BKGST;  // scaled, in at least float32
  Tensor seen_B11ST;
};

Scores scores(const std::vector<Value>& o, const Tensor& q_BKGSD, double scale) {
  const Tensor k_BTKD = o[1];
  const Tensor scores = einsum("bkgsd,btkd->bkgst", q_BKGSD, k_BTKD, wide(k_BTKD.dtype())) * scale;
  const Tensor causal = unsqueeze(o[3], 2) >= unsqueeze(o[4], 1);
  const Tensor seen_BST = causal & equal(unsqueeze(o[5], 2), unsqueeze(o[6], 1));
  return {scores, unsqueeze(unsqueeze(seen_BST, 1), 1)};
}

}  // namespace

std::vector<Value> attention_reference(Graph&, const Attributes& attributes, const std::vector<Value>& o) {
  const Tensor v_BTKD = o[2];
  const DType dtype = v_BTKD.dtype();
  const Tensor q_BKGSD = by_head(o[0], v_BTKD.size(2));
  const Scores s = scores(o, q_BKGSD, attributes.as<AttentionAttributes>().scale);
  const Tensor masked = where(s.seen_B11ST, s.scores_BKGST, -kInfinity);
  const Tensor largest = max(masked, {-1}, true);
  // Where nothing is seen the largest score is −∞; 0 in its place keeps exp(−∞ − …) at 0.
  const Tensor shift = where(largest > -kInfinity, largest, 0);
  const Tensor p_BKGST = exponential(masked - shift);
  const Tensor total_BKGS = sum(p_BKGST, {-1});
  const Tensor log_sum_exp = logarithm(total_BKGS) + reshape(shift, total_BKGS.dims());
  const Tensor divisor = where(total_BKGS > 0, total_BKGS, 1);
  const Tensor out_BKGSD = einsum("bkgst,btkd->bkgsd", cast(p_BKGST, dtype), v_BTKD, wide(dtype));
  const Tensor out_BSHD = by_row(cast(out_BKGSD / unsqueeze(divisor, -1), dtype), o[0].dims());
  const Dims& q = o[0].dims();
  return {out_BSHD.value(), reshape(log_sum_exp, {q[0], q[2], q[1]}).value()};
}

// FlashAttention (Dao et al., 2022), algorithm 4: P is computed again from the saved log-sum-exp, and
// dS = P ∘ (dP − rowsum(dO ∘ O)).
std::vector<Value> attention_backward_reference(Graph&, const Attributes& attributes, const std::vector<Value>& o) {
  const Tensor q = o[0];
  const Tensor k_BTKD = o[1];
  const Tensor v_BTKD = o[2];
  const DType dtype = q.dtype();
  const double scale = attributes.as<AttentionAttributes>().scale;
  const int64_t key_heads = k_BTKD.size(2);
  const Tensor q_BKGSD = by_head(q, key_heads);
  const Scores s = scores(o, q_BKGSD, scale);
  const Tensor out_BKGSD = by_head(o[7], key_heads);
  const Tensor dout_BKGSD = by_head(o[9], key_heads);
  const Dims& kgst = s.scores_BKGST.dims();
  const Tensor log_sum_exp = reshape(Tensor(o[8]), {kgst[0], kgst[1], kgst[2], kgst[3], 1});
  const Tensor p_BKGST = where(s.seen_B11ST, exponential(s.scores_BKGST - log_sum_exp), 0);

  const Tensor dv_BKDT = einsum("bkgsd,bkgst->bkdt", dout_BKGSD, cast(p_BKGST, dtype));
  const Tensor dp_BKGST = einsum("bkgsd,btkd->bkgst", dout_BKGSD, v_BTKD, wide(dtype));
  const Tensor products = cast(dout_BKGSD, wide(dtype)) * cast(out_BKGSD, wide(dtype));
  const Tensor delta_BKGS1 = sum(products, {-1}, true);
  const Tensor ds_BKGST = cast(p_BKGST * (dp_BKGST - delta_BKGS1) * scale, dtype);
  const Tensor dq_BKGSD = einsum("bkgst,btkd->bkgsd", ds_BKGST, k_BTKD);
  const Tensor dk_BKDT = einsum("bkgsd,bkgst->bkdt", q_BKGSD, ds_BKGST);
  return {by_row(dq_BKGSD, q.dims()).value(), permute(dk_BKDT, {0, 3, 1, 2}).value(),
          permute(dv_BKDT, {0, 3, 1, 2}).value()};
}

}  // namespace tethys
