#include "kernels/linear_cross_entropy/linear_cross_entropy.h"

#include <limits>

#include "ops/collective/collective.h"
#include "ops/collective/part.h"
#include "ops/dot/dot.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"

namespace tethys {

std::string describe(const LinearCrossEntropyAttributes& a) {
  return fmt::format("weight gradient {}, {} words", tethys::name_of(a.weight_gradient), a.vocabulary);
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
  require(a.vocabulary > 0, "a vocabulary of {} words", a.vocabulary);
  return {{wide(x.dtype), {}}, x, w.with_dtype(a.weight_gradient)};
}

// Which words a device has, and how it hears of those that others have. All of them, unless axes cut the vocabulary.
struct Words {
  int64_t count;  // of all devices, with padding
  const Mesh* mesh = nullptr;
  Dims axes = {};
  std::optional<Value> start = std::nullopt;  // s32[]: the number of this device's first word

  Tensor numbers(Graph& graph, const Dims& dims_BSV) const {
    const Tensor own = iota(graph, {DType::S32, dims_BSV}, 2);
    return start ? own + Tensor(*start) : own;
  }
  Tensor over_all(const Tensor& x, Reduction reduction) const {
    return axes.empty() ? x : all_reduce(x.value(), *mesh, axes, reduction);
  }
  // As a summand: x on the first of the devices, zero on the others.
  Tensor once(const Tensor& x) const {
    return axes.empty() ? x : where(equal(Tensor(group_index(x.graph(), *mesh, axes)), 0), x, 0);
  }
};

// The loss and the gradient of x are this device's summands.
std::vector<Value> compose(Graph& graph, const Attributes& attributes, const std::vector<Value>& operands,
                           const Words& words) {
  const auto& [weight_gradient, vocabulary] = attributes.as<LinearCrossEntropyAttributes>();
  const Tensor x_BSD = operands[0];
  const Tensor w_VD = operands[1];
  const Tensor labels_BS1 = unsqueeze(operands[2], -1);
  const Tensor products = einsum("bsd,vd->bsv", x_BSD, w_VD, wide(x_BSD.dtype()));
  const Tensor valid_BS1 = not_equal(labels_BS1, kIgnoredLabel);
  const Tensor ids_BSV = words.numbers(graph, products.dims());
  const Tensor logits =
      words.count > vocabulary ? where(ids_BSV < static_cast<double>(vocabulary), products, -kInfinity) : products;
  const Tensor is_label = equal(ids_BSV, labels_BS1);  // nowhere, for an ignored label

  const Tensor largest = words.over_all(max(logits, {-1}, true), Reduction::Max);
  const Tensor e = exponential(logits - largest);
  const Tensor total = words.over_all(sum(e, {-1}, true), Reduction::Sum);
  const Tensor at_label = sum(where(is_label, logits, 0), {-1}, true);
  const Tensor loss = sum(where(valid_BS1, words.once(logarithm(total) + largest) - at_label, 0));

  const Tensor p_minus_label = e / total - cast(is_label, e.dtype());
  const Tensor dlogits = cast(where(valid_BS1, p_minus_label, 0), x_BSD.dtype());
  const Tensor dx = einsum("bsv,vd->bsd", dlogits, w_VD);
  const Tensor dw = einsum("bsv,bsd->vd", dlogits, x_BSD, weight_gradient);
  return {loss.value(), dx.value(), dw.value()};
}

std::vector<Value> reference(Graph& graph, const Attributes& attributes, const std::vector<Value>& operands) {
  return compose(graph, attributes, operands, {.count = operands[1].dims()[0]});
}

std::vector<Value> local(const LocalContext& c) {
  const Layout& w = c.operand_layouts[1];
  const Dims axes = cutting_axes(w.placement, 0, c.mesh);
  if (axes.empty()) return {};
  const Words words{w.type.dims[0], &c.mesh, axes, part_start(c.graph, w, 0, c.mesh)};
  return compose(c.graph, c.call.attributes, c.operands, words);
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

// Rows of x are summed into the loss and into w's gradient, and stay rows of x's. Words are summed into the loss and
// x's gradient.
Factors factors(const OpCall& call) {
  const Dims& x = call.operands[0].dims;
  Factors f;
  f.factors = {{FactorKind::Reduced, x[0]},
               {FactorKind::Reduced, x[1]},
               {FactorKind::Replicate, x[2]},
               {FactorKind::Reduced, call.operands[1].dims[0]}};
  f.operands = {{{0}, {1}, {2}}, {{3}, {2}}, {{0}, {1}}};
  f.results = {{}, {{0}, {1}, {2}}, {{3}, {2}}};
  return f;
}

std::vector<Sample> samples() {
  const std::vector<int32_t> labels = {1, 6, kIgnoredLabel, 0, 3, 3, kIgnoredLabel, 2};
  return {plain_sample("one label in four ignored",
                       {sample_tensor({4, 2, 3}, 1), sample_tensor({7, 3}, 2), HostTensor::of<int32_t>({4, 2}, labels)},
                       LinearCrossEntropyAttributes{DType::F64, 7}),
          plain_sample("a vocabulary with padding behind it",
                       {sample_tensor({4, 2, 3}, 1), sample_tensor({8, 3}, 2), HostTensor::of<int32_t>({4, 2}, labels)},
                       LinearCrossEntropyAttributes{DType::F64, 7})};
}

}  // namespace

const KernelRecord linear_cross_entropy_kernel = {
    .name = "linear_cross_entropy",
    .infer = infer,
    .reference = reference,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .local = local,
    .samples = samples,
    .lowerings = {},
};

Tensor linear_cross_entropy(const Tensor& x_BSD, const Tensor& w_VD, const Tensor& labels_BS, int64_t vocabulary) {
  const LinearCrossEntropyAttributes attributes{gradient_dtype(w_VD.value()), vocabulary};
  return kernel(linear_cross_entropy_kernel, x_BSD.graph(), attributes,
                {x_BSD.value(), w_VD.value(), labels_BS.value()})[0];
}

}  // namespace tethys
