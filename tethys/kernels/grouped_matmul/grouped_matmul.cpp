#include "kernels/grouped_matmul/grouped_matmul.h"

#include "kernels/grouped_matmul/reference.h"
#include "ops/control/redistribute.h"
#include "ops/dot/dot.h"
#include "ops/samples.h"

namespace tethys {

std::string describe(const GroupedMatmulAttributes& a) { return a.transposed ? "transposed" : ""; }
std::string describe(const GroupedMatmulWeightsAttributes& a) { return std::string(tethys::name_of(a.result)); }

namespace {

bool is_transposed(const OpCall& call) { return call.attributes.as<GroupedMatmulAttributes>().transposed; }

std::vector<TensorType> infer(const OpCall& call) {
  require(call.operands.size() == 3, "{} operands", call.operands.size());
  const TensorType& x = call.operands[0];
  const TensorType& w = call.operands[1];
  const int n = is_transposed(call) ? 2 : 1;
  require(x.rank() == 2 && w.rank() == 3 && x.dims[1] == w.dims[3 - n] && x.dtype == w.dtype && is_floating(x.dtype),
          "x {} and w {}: expected [M,K] and {} of one floating dtype", to_string(x), to_string(w),
          n == 1 ? "[E,N,K]" : "[E,K,N]");
  const TensorType counts{DType::S32, {w.dims[0]}};
  require(call.operands[2] == counts, "counts {}, expected {}", to_string(call.operands[2]), to_string(counts));
  return {{x.dtype, {x.dims[0], w.dims[n]}}};
}

std::vector<TensorType> infer_weights(const OpCall& call) {
  require(call.operands.size() == 3, "{} operands", call.operands.size());
  const TensorType& g = call.operands[0];
  const TensorType& x = call.operands[1];
  const TensorType& counts = call.operands[2];
  require(g.rank() == 2 && x.rank() == 2 && g.dims[0] == x.dims[0] && g.dtype == x.dtype && is_floating(x.dtype),
          "g {} and x {}: expected [M,N] and [M,K] of one floating dtype", to_string(g), to_string(x));
  require(counts.dtype == DType::S32 && counts.rank() == 1, "counts {}, expected s32[E]", to_string(counts));
  return {{call.attributes.as<GroupedMatmulWeightsAttributes>().result, {counts.dims[0], g.dims[1], x.dims[1]}}};
}

Cotangents vjp(const VjpContext& c) {
  Cotangents result(3);
  if (!c.cotangents[0]) return result;
  const Tensor g = *c.cotangents[0], x = c.operands[0], w = c.operands[1], counts = c.operands[2];
  const bool transposed = is_transposed(c.call);
  if (c.wanted[0]) result[0] = redistribute_like(grouped_matmul(g, w, counts, !transposed).value(), x.value());
  if (c.wanted[1]) {
    const DType dtype = gradient_dtype(w.value());
    const Tensor dw =
        transposed ? grouped_matmul_weights(x, g, counts, dtype) : grouped_matmul_weights(g, x, counts, dtype);
    result[1] = dw.value();
  }
  return result;
}

// Rows belong together with their counts. Sharding K leaves sums.
Factors factors(const OpCall& call) {
  constexpr int M = 0, E = 1, N = 2, K = 3;
  const Dims& x = call.operands[0].dims;
  const Dims& w = call.operands[1].dims;
  const bool transposed = is_transposed(call);
  Factors f;
  f.factors = {{FactorKind::Replicate, x[0]},
               {FactorKind::Replicate, w[0]},
               {FactorKind::Pass, w[transposed ? 2 : 1]},
               {FactorKind::Reduced, x[1]}};
  const TensorFactors weights = transposed ? TensorFactors{{E}, {K}, {N}} : TensorFactors{{E}, {N}, {K}};
  f.operands = {{{M}, {K}}, weights, {{E}}};
  f.results = {{{M}, {N}}};
  return f;
}

Factors factors_weights(const OpCall& call) {
  constexpr int M = 0, E = 1, N = 2, K = 3;
  Factors f;
  f.factors = {{FactorKind::Replicate, call.operands[0].dims[0]},
               {FactorKind::Replicate, call.operands[2].dims[0]},
               {FactorKind::Pass, call.operands[0].dims[1]},
               {FactorKind::Pass, call.operands[1].dims[1]}};
  f.operands = {{{M}, {N}}, {{M}, {K}}, {{E}}};
  f.results = {{{E}, {N}, {K}}};
  return f;
}

// More rows than tiles of 8; an empty group; rows behind the last group.
std::vector<Sample> samples() {
  auto sample = [](std::string name, HostTensor w, std::vector<int32_t> counts, bool transposed) {
    return plain_sample(std::move(name),
                        {sample_tensor({24, 4}, 1), std::move(w), HostTensor::of<int32_t>({4}, counts)},
                        GroupedMatmulAttributes{transposed});
  };
  return {sample("an empty group and rows behind", sample_tensor({4, 8, 4}, 2), {3, 0, 17, 2}, false),
          sample("transposed, all in one group", sample_tensor({4, 4, 8}, 2), {0, 0, 0, 24}, true)};
}

}  // namespace

const KernelRecord grouped_matmul_kernel = {
    .name = "grouped_matmul",
    .infer = infer,
    .reference = grouped_matmul_reference,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
    .lowerings = {},
};

const KernelRecord grouped_matmul_weights_kernel = {
    .name = "grouped_matmul_weights",
    .infer = infer_weights,
    .reference = grouped_matmul_weights_reference,
    .gradient = Gradient::Missing,
    .factors = factors_weights,
    .lowerings = {},
};

Tensor grouped_matmul(const Tensor& x, const Tensor& w, const Tensor& counts_E, bool transposed) {
  return kernel(grouped_matmul_kernel, x.graph(), GroupedMatmulAttributes{transposed},
                {x.value(), w.value(), counts_E.value()})[0];
}

Tensor grouped_matmul_weights(const Tensor& g_MN, const Tensor& x_MK, const Tensor& counts_E, DType result) {
  return kernel(grouped_matmul_weights_kernel, x_MK.graph(), GroupedMatmulWeightsAttributes{result},
                {g_MN.value(), x_MK.value(), counts_E.value()})[0];
}

}  // namespace tethys
