#include "kernels/linear_cross_entropy/linear_cross_entropy.h"

#include "ops/dot/dot.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"

namespace tethys {

std::string describe(const LinearCrossEntropyAttributes& a) {
  return fmt::format("weight gradient {}", tethys::name_of(a.weight_gradient));
}

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require(call.operands.size() == 3, "{} operands", call.operands.size());
  const TensorType& x = call.operands[0];
  const TensorType& w = call.operands[1];
  const TensorType& labels = call.operands[2];
  require(x.rank() == 3 && w.rank() == 2 && x.dims[2] == w.dims[1] && x.dtype == w.dtype && is_floating(x.dtype),
          "x {} and w {}: expected [B,S,D] and [V,D] of one floating dtype", to_string(x), to_string(w));
  const TensorType expected{DType::S32, {x.dims[0], x.dims[1]}};
  require(labels == expected, "labels {}, expected {}", to_string(labels), to_string(expected));
  const auto& a = call.attributes.as<LinearCrossEntropyAttributes>();
  return {{wide(x.dtype), {}}, x, w.with_dtype(a.weight_gradient)};
}

std::vector<Value> reference(Graph& graph, const Attributes& attributes, const std::vector<Value>& operands) {
  const Tensor x_BSD = operands[0];
  const Tensor w_VD = operands[1];
  const Tensor labels_BS1 = unsqueeze(operands[2], -1);
  const Tensor logits = einsum("bsd,vd->bsv", x_BSD, w_VD, wide(x_BSD.dtype()));
  const Tensor valid_BS1 = not_equal(labels_BS1, kIgnoredLabel);
  const Tensor ids_BSV = iota(graph, {DType::S32, logits.dims()}, 2);
  const Tensor is_label = equal(ids_BSV, labels_BS1);  // nowhere, for an ignored label

  const Tensor largest = max(logits, {-1}, true);
  const Tensor e = exponential(logits - largest);
  const Tensor total = sum(e, {-1}, true);
  const Tensor at_label = sum(where(is_label, logits, 0), {-1}, true);
  const Tensor loss = sum(where(valid_BS1, logarithm(total) + largest - at_label, 0));

  const Tensor p_minus_label = e / total - cast(is_label, e.dtype());
  const Tensor dlogits = cast(where(valid_BS1, p_minus_label, 0), x_BSD.dtype());
  const Tensor dx = einsum("bsv,vd->bsd", dlogits, w_VD);
  const DType dw_dtype = attributes.as<LinearCrossEntropyAttributes>().weight_gradient;
  const Tensor dw = einsum("bsv,bsd->vd", dlogits, x_BSD, dw_dtype);
  return {loss.value(), dx.value(), dw.value()};
}

Cotangents vjp(const VjpContext& c) {
  require(!c.cotangents[1] && !c.cotangents[2], "the gradients in linear_cross_entropy have no gradient of their own");
  Cotangents result(3);
  if (!c.cotangents[0]) return result;
  const Tensor g = *c.cotangents[0];
  if (c.wanted[0]) result[0] = multiply(Tensor(c.results[1]), cast(g, c.results[1].dtype())).value();
  if (c.wanted[1]) result[1] = multiply(Tensor(c.results[2]), cast(g, c.results[2].dtype())).value();
  return result;
}

// Rows of x are summed into the loss and into w's gradient, and stay rows of x's.
Factors factors(const OpCall& call) {
  const Dims& x = call.operands[0].dims;
  Factors f;
  f.factors = {{FactorKind::Reduced, x[0]},
               {FactorKind::Reduced, x[1]},
               {FactorKind::Replicate, x[2]},
               {FactorKind::Replicate, call.operands[1].dims[0]}};
  f.operands = {{{0}, {1}, {2}}, {{3}, {2}}, {{0}, {1}}};
  f.results = {{}, {{0}, {1}, {2}}, {{3}, {2}}};
  return f;
}

std::vector<Sample> samples() {
  const std::vector<int32_t> labels = {1, 6, kIgnoredLabel, 0, 3, 3, kIgnoredLabel, 2};
  return {{.name = "one label in four ignored",
           .operands = {sample_tensor({4, 2, 3}, 1), sample_tensor({7, 3}, 2), HostTensor::of<int32_t>({4, 2}, labels)},
           .attributes = LinearCrossEntropyAttributes{DType::F64},
           .declared = {},
           .regions = {}}};
}

}  // namespace

const KernelRecord linear_cross_entropy_kernel = {
    .name = "linear_cross_entropy",
    .infer = infer,
    .reference = reference,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
    .lowerings = {},
};

Tensor linear_cross_entropy(const Tensor& x_BSD, const Tensor& w_VD, const Tensor& labels_BS) {
  const LinearCrossEntropyAttributes attributes{gradient_dtype(w_VD.value())};
  return kernel(linear_cross_entropy_kernel, x_BSD.graph(), attributes,
                {x_BSD.value(), w_VD.value(), labels_BS.value()})[0];
}

}  // namespace tethys
