#include "kernels/linear_cross_entropy/linear_cross_entropy.h"

#include <functional>
#include <limits>

#include "ops/collective/collective.h"
#include "ops/collective/part.h"
#include "ops/control/scan.h"
#include "ops/dot/dot.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {

std::string describe(const LinearCrossEntropyAttributes& a) {
  const std::string text =
      fmt::format("weight gradient {}, {} words", tethys::name_of(a.weight_gradient), a.vocabulary);
  return a.chunk == 0 ? text : fmt::format("{}, chunks of {}", text, a.chunk);
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
  require(a.vocabulary > 0 && a.chunk >= 0, "a vocabulary of {} words, chunks of {}", a.vocabulary, a.chunk);
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

// As values of a graph.
using WordsIn = std::function<Words(Graph&)>;

// The loss and the gradient of x are this device's summands.
std::vector<Value> at_once(Graph& graph, const LinearCrossEntropyAttributes& attributes,
                           const std::vector<Value>& operands, const Words& words) {
  const int64_t vocabulary = attributes.vocabulary;
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
  const Tensor dw = einsum("bsv,bsd->vd", dlogits, x_BSD, attributes.weight_gradient);
  return {loss.value(), dx.value(), dw.value()};
}

// [B, S, …] → [chunks, 1, size, …], with more tokens of `filling` behind the last.
Tensor chunks_of(const Tensor& x, int64_t count, int64_t size, double filling) {
  const Dims rest(x.dims().begin() + 2, x.dims().end());
  const int64_t tokens = x.size(0) * x.size(1);
  Dims flat = {tokens}, chunked = {count, 1, size};
  flat.insert(flat.end(), rest.begin(), rest.end());
  chunked.insert(chunked.end(), rest.begin(), rest.end());
  Dims none(flat.size(), 0), behind = none;
  behind[0] = count * size - tokens;
  const Tensor rows = reshape(x, flat);
  if (behind[0] == 0) return reshape(rows, chunked);
  return reshape(Tensor(pad(rows.value(), splat(x.graph(), {x.dtype(), {}}, filling), none, behind)), chunked);
}

// The same as at_once, a chunk of tokens after the other. The gradient of w adds up in at least float32.
std::vector<Value> in_chunks(Graph& graph, const LinearCrossEntropyAttributes& attributes,
                             const std::vector<Value>& operands, const WordsIn& words) {
  const Tensor x_BSD = operands[0];
  const int64_t tokens = x_BSD.size(0) * x_BSD.size(1), width = x_BSD.size(2);
  const int64_t count = (tokens + attributes.chunk - 1) / attributes.chunk, size = (tokens + count - 1) / count;
  LinearCrossEntropyAttributes of_chunk = attributes;
  of_chunk.weight_gradient = wide(promote(x_BSD.dtype(), attributes.weight_gradient));
  const Value no_loss = splat(graph, {wide(x_BSD.dtype()), {}}, 0);
  const Value no_dw = splat(graph, operands[1].type().with_dtype(of_chunk.weight_gradient), 0);
  const ScanResults end = scan(
      graph, count,
      {.consts = {operands[1]},
       .carries = {no_loss, no_dw},
       .xs = {chunks_of(x_BSD, count, size, 0).value(), chunks_of(operands[2], count, size, kIgnoredLabel).value()}},
      [&](Graph& region, const ScanOperands& in) {
        const std::vector<Value> chunk = at_once(region, of_chunk, {in.xs[0], in.consts[0], in.xs[1]}, words(region));
        return ScanResults{{add(in.carries[0], chunk[0]), add(in.carries[1], chunk[2])}, {chunk[1]}};
      });
  const Tensor dx = slice(reshape(end.ys[0], {count * size, width}), 0, 0, tokens);
  return {end.carries[0], reshape(dx, x_BSD.dims()).value(), cast(end.carries[1], attributes.weight_gradient).value()};
}

std::vector<Value> compose(Graph& graph, const Attributes& attributes, const std::vector<Value>& operands,
                           const WordsIn& words) {
  const auto& a = attributes.as<LinearCrossEntropyAttributes>();
  if (a.chunk > 0) return in_chunks(graph, a, operands, words);
  return at_once(graph, a, operands, words(graph));
}

std::vector<Value> reference(Graph& graph, const Attributes& attributes, const std::vector<Value>& operands) {
  return compose(graph, attributes, operands, [&](Graph&) { return Words{.count = operands[1].dims()[0]}; });
}

std::vector<Value> local(const LocalContext& c) {
  const Layout& w = c.operand_layouts[1];
  const Dims axes = cutting_axes(w.placement, 0, c.mesh);
  if (axes.empty()) return {};
  return compose(c.graph, c.call.attributes, c.operands, [&](Graph& graph) {
    return Words{w.type.dims[0], &c.mesh, axes, part_start(graph, w, 0, c.mesh)};
  });
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
                       LinearCrossEntropyAttributes{DType::F64, 7}),
          plain_sample("in chunks that do not divide the tokens",
                       {sample_tensor({4, 2, 3}, 1), sample_tensor({8, 3}, 2), HostTensor::of<int32_t>({4, 2}, labels)},
                       LinearCrossEntropyAttributes{DType::F64, 7, 3})};
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

Tensor linear_cross_entropy(const Tensor& x_BSD, const Tensor& w_VD, const Tensor& labels_BS, int64_t vocabulary,
                            int64_t chunk) {
  const LinearCrossEntropyAttributes attributes{gradient_dtype(w_VD.value()), vocabulary, chunk};
  return kernel(linear_cross_entropy_kernel, x_BSD.graph(), attributes,
                {x_BSD.value(), w_VD.value(), labels_BS.value()})[0];
}

}  // namespace tethys
