#include "kernels/routed_experts/reference.h"

#include "kernels/grouped_matmul/grouped_matmul.h"
#include "kernels/routed_experts/routed_experts.h"
#include "ops/shape/splat.h"
#include "ops/sort/sort.h"

namespace tethys {
namespace {

// A assignments of a token to an expert, A = N·T with N = B·S, sorted by expert. Within an expert they keep their
// order.
struct Assignments {
  Tensor token_A;     // s32, of each sorted assignment
  Tensor order_A;     // s32: the sorted assignments' numbers n·T + t
  Tensor position_A;  // s32: the inverse, where assignment n·T + t went
  Tensor counts_E;    // s32
};

Assignments sorted_by_expert(Graph& graph, const Tensor& ids_BST, int64_t experts) {
  const int64_t T = ids_BST.size(2);
  const Tensor ids_A = reshape(ids_BST, {-1});
  const Tensor number_A = iota(graph, ids_A.value().type(), 0);
  const Value by_expert[] = {ids_A.value(), number_A.value()};
  const Tensor order_A = sort(by_expert, 0)[1];
  const Value by_number[] = {order_A.value(), number_A.value()};
  const Tensor expert_AE = iota(graph, {DType::S32, {ids_A.size(0), experts}}, 1);
  const Tensor counts_E = sum(cast(equal(expert_AE, unsqueeze(ids_A, 1)), DType::S32), {0});
  return {divide(order_A, full_like(order_A, static_cast<double>(T))), order_A, sort(by_number, 0)[1], counts_E};
}

struct Forward {
  Assignments to;
  Tensor x_AD, gate_AF, up_AF, hidden_AF, y_AD;  // gate and up at least float32
};

Tensor rows_of(const Tensor& x_BSD) { return reshape(x_BSD, {-1, x_BSD.size(2)}); }

Forward forward(Graph& graph, const std::vector<Value>& o) {
  const Tensor x_BSD = o[0], w1_EFD = o[3], w3_EFD = o[4], w2_EDF = o[5];
  Forward f{sorted_by_expert(graph, o[1], w1_EFD.size(0)), {}, {}, {}, {}, {}};
  f.x_AD = take(rows_of(x_BSD), f.to.token_A);
  f.gate_AF = cast(grouped_matmul(f.x_AD, w1_EFD, f.to.counts_E), wide(x_BSD.dtype()));
  f.up_AF = cast(grouped_matmul(f.x_AD, w3_EFD, f.to.counts_E), wide(x_BSD.dtype()));
  f.hidden_AF = cast(silu(f.gate_AF) * f.up_AF, x_BSD.dtype());
  f.y_AD = grouped_matmul(f.hidden_AF, w2_EDF, f.to.counts_E);
  return f;
}

// Sorted assignments back at their tokens, [N, T, …], at least float32.
Tensor by_token(const Forward& f, const Tensor& x_AD, int64_t T) {
  return reshape(cast(take(x_AD, f.to.position_A), wide(x_AD.dtype())), {-1, T, x_AD.size(1)});
}

}  // namespace

std::vector<Value> routed_experts_reference(Graph& graph, const Attributes&, const std::vector<Value>& o) {
  const Tensor x_BSD = o[0], weights_BST = o[2];
  const int64_t T = weights_BST.size(2);
  const Forward f = forward(graph, o);
  const Tensor out_ND = sum(by_token(f, f.y_AD, T) * reshape(cast(weights_BST, wide(x_BSD.dtype())), {-1, T, 1}), {1});
  return {reshape(cast(out_ND, x_BSD.dtype()), x_BSD.dims()).value()};
}

// The forward is computed again, for nothing of its size is worth keeping.
std::vector<Value> routed_experts_backward_reference(Graph& graph, const Attributes& attributes,
                                                     const std::vector<Value>& o) {
  const Tensor x_BSD = o[0], weights_BST = o[2], w1_EFD = o[3], w3_EFD = o[4], w2_EDF = o[5], g_BSD = o[6];
  const DType dtype = x_BSD.dtype(), sums = wide(dtype);
  const DType weight_gradient = attributes.as<RoutedExpertsAttributes>().weight_gradient;
  const int64_t T = weights_BST.size(2);
  const Forward f = forward(graph, o);
  const Tensor& counts_E = f.to.counts_E;

  const Tensor g_ND = cast(rows_of(g_BSD), sums);
  const Tensor dweights_NT = sum(by_token(f, f.y_AD, T) * unsqueeze(g_ND, 1), {2});
  const Tensor weight_A1 = unsqueeze(take(reshape(weights_BST, {-1}), f.to.order_A), 1);
  const Tensor dy_AD = cast(take(g_ND, f.to.token_A) * cast(weight_A1, sums), dtype);

  const Tensor dhidden_AF = cast(grouped_matmul(dy_AD, w2_EDF, counts_E, /*transposed=*/true), sums);
  const Tensor sigmoid_AF = logistic(f.gate_AF);
  const Tensor dsilu_AF = sigmoid_AF * (f.gate_AF * (1 - sigmoid_AF) + 1);
  const Tensor dgate_AF = cast(dhidden_AF * f.up_AF * dsilu_AF, dtype);
  const Tensor dup_AF = cast(dhidden_AF * silu(f.gate_AF), dtype);

  const Tensor dx_NTD = by_token(f, grouped_matmul(dgate_AF, w1_EFD, counts_E, true), T) +
                        by_token(f, grouped_matmul(dup_AF, w3_EFD, counts_E, true), T);
  const Tensor dx_BSD = reshape(cast(sum(dx_NTD, {1}), dtype), x_BSD.dims());
  return {dx_BSD.value(), reshape(cast(dweights_NT, weights_BST.dtype()), weights_BST.dims()).value(),
          grouped_matmul_weights(dgate_AF, f.x_AD, counts_E, weight_gradient).value(),
          grouped_matmul_weights(dup_AF, f.x_AD, counts_E, weight_gradient).value(),
          grouped_matmul_weights(dy_AD, f.hidden_AF, counts_E, weight_gradient).value()};
}

}  // namespace tethys
