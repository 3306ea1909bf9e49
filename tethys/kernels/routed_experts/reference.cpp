#include "kernels/routed_experts/reference.h"

#include "kernels/grouped_matmul/grouped_matmul.h"
#include "kernels/routed_experts/routed_experts.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// gate and up at least float32
struct Forward {
  Tensor x_RD, gate_RF, up_RF, hidden_RF, y_RD;
};

Tensor rows_of(const Tensor& x_BSD) { return reshape(x_BSD, {-1, x_BSD.size(2)}); }

Forward forward(const Dispatch& to, const std::vector<Value>& o) {
  const Tensor x_BSD = o[0], w1_EFD = o[3], w3_EFD = o[4], w2_EDF = o[5];
  Forward f;
  f.x_RD = to.to_experts(take(rows_of(x_BSD), to.token_S));
  f.gate_RF = cast(grouped_matmul(f.x_RD, w1_EFD, to.counts_E), wide(x_BSD.dtype()));
  f.up_RF = cast(grouped_matmul(f.x_RD, w3_EFD, to.counts_E), wide(x_BSD.dtype()));
  f.hidden_RF = cast(silu(f.gate_RF) * f.up_RF, x_BSD.dtype());
  f.y_RD = grouped_matmul(f.hidden_RF, w2_EDF, to.counts_E);
  return f;
}

// [N,T,D], at least float32.
Tensor by_token(const Dispatch& to, const Tensor& x_RD, int64_t T) {
  return reshape(cast(to.to_tokens(x_RD), wide(x_RD.dtype())), {-1, T, x_RD.size(1)});
}

}  // namespace

std::vector<Value> experts_forward(const Dispatch& to, const std::vector<Value>& o) {
  const Tensor x_BSD = o[0], weights_BST = o[2];
  const int64_t T = weights_BST.size(2);
  const Tensor weights_NT1 = reshape(cast(weights_BST, wide(x_BSD.dtype())), {-1, T, 1});
  const Tensor out_ND = sum(by_token(to, forward(to, o).y_RD, T) * weights_NT1, {1});
  return {reshape(cast(out_ND, x_BSD.dtype()), x_BSD.dims()).value()};
}

// The forward is computed again, for nothing of its size is worth keeping.
std::vector<Value> experts_backward(const Dispatch& to, const Attributes& attributes, const std::vector<Value>& o) {
  const Tensor x_BSD = o[0], weights_BST = o[2], w1_EFD = o[3], w3_EFD = o[4], w2_EDF = o[5], g_BSD = o[6];
  const DType dtype = x_BSD.dtype(), sums = wide(dtype);
  const DType weight_gradient = attributes.as<RoutedExpertsAttributes>().weight_gradient;
  const int64_t T = weights_BST.size(2);
  const Forward f = forward(to, o);

  const Tensor g_ND = cast(rows_of(g_BSD), sums);
  const Tensor dweights_NT = sum(by_token(to, f.y_RD, T) * unsqueeze(g_ND, 1), {2});
  const Tensor weight_S1 = unsqueeze(take(reshape(weights_BST, {-1}), to.assignment_S), 1);
  const Tensor dy_RD = to.to_experts(cast(take(g_ND, to.token_S) * cast(weight_S1, sums), dtype));

  const Tensor dhidden_RF = cast(grouped_matmul(dy_RD, w2_EDF, to.counts_E, /*transposed=*/true), sums);
  const Tensor sigmoid_RF = logistic(f.gate_RF);
  const Tensor dsilu_RF = sigmoid_RF * (f.gate_RF * (1 - sigmoid_RF) + 1);
  const Tensor dgate_RF = cast(dhidden_RF * f.up_RF * dsilu_RF, dtype);
  const Tensor dup_RF = cast(dhidden_RF * silu(f.gate_RF), dtype);

  const Tensor dx_RD = cast(grouped_matmul(dgate_RF, w1_EFD, to.counts_E, true), sums) +
                       cast(grouped_matmul(dup_RF, w3_EFD, to.counts_E, true), sums);
  const Tensor dx_BSD = reshape(cast(sum(by_token(to, dx_RD, T), {1}), dtype), x_BSD.dims());
  return {dx_BSD.value(), reshape(cast(dweights_NT, weights_BST.dtype()), weights_BST.dims()).value(),
          grouped_matmul_weights(dgate_RF, f.x_RD, to.counts_E, weight_gradient).value(),
          grouped_matmul_weights(dup_RF, f.x_RD, to.counts_E, weight_gradient).value(),
          grouped_matmul_weights(dy_RD, f.hidden_RF, to.counts_E, weight_gradient).value()};
}

std::vector<Value> routed_experts_reference(Graph&, const Attributes&, const std::vector<Value>& o) {
  return experts_forward(dispatch_here(o[1], o[3].dims()[0]), o);
}

std::vector<Value> routed_experts_backward_reference(Graph&, const Attributes& attributes,
                                                     const std::vector<Value>& o) {
  return experts_backward(dispatch_here(o[1], o[3].dims()[0]), attributes, o);
}

}  // namespace tethys
