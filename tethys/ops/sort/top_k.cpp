#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "ops/sort/sort.h"

namespace tethys {

struct TopKAttributes {
  int64_t dim = 0;
  int64_t k = 1;
  bool operator==(const TopKAttributes&) const = default;
};
static std::string describe(const TopKAttributes& a) { return fmt::format("{} along {}", a.k, a.dim); }

namespace {

const TopKAttributes& of(const OpCall& call) { return call.attributes.as<TopKAttributes>(); }

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.operands[0];
  const auto& [dim, k] = of(call);
  require(dim >= 0 && dim < x.rank() && k > 0 && k <= x.dims[dim], "the top {} of {} along {}", k, to_string(x), dim);
  TensorType values = x;
  values.dims[dim] = k;
  return {values, values.with_dtype(DType::S32)};
}

// A stable sort from the largest leaves equal elements in the order of their indices.
std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const int64_t dim = of(c.call).dim;
  const TensorType indices = c.operands[0].type.with_dtype(DType::S32);
  const stablehlo::Ssa index =
      c.writer.op1("stablehlo.iota", {}, indices, {{"iota_dimension", stablehlo::i64_attribute(dim)}});
  std::vector<stablehlo::Ssa> top = emit_sort(c.writer, {c.operands[0], index}, dim, Order::Descending);
  const Dims zeros(indices.dims.size(), 0), ones(indices.dims.size(), 1);
  for (size_t i = 0; i < top.size(); ++i) {
    top[i] = c.writer.op1("stablehlo.slice", {top[i]}, c.results[i],
                          {{"start_indices", stablehlo::i64_array(zeros)},
                           {"limit_indices", stablehlo::i64_array(c.results[i].dims)},
                           {"strides", stablehlo::i64_array(ones)}});
  }
  return top;
}

Cotangents vjp(const VjpContext& c) {
  if (!c.cotangents[0]) return {std::nullopt};
  const Value x = c.operands[0];
  const auto& [dim, k] = of(c.call);
  Dims low(x.dims().size(), 0), high(x.dims().size(), 0);
  high[dim] = x.dims()[dim] - k;
  const Value zero = splat(c.graph, {c.cotangents[0]->dtype(), {}}, 0);
  return {unsorted(x, pad(*c.cotangents[0], zero, low, high), dim, Order::Descending)};
}

Factors factors(const OpCall& call) {
  Factors f = elementwise_factors(call.operands[0].dims, 1, Linearity::No);
  f.factors[of(call).dim].kind = FactorKind::Replicate;
  TensorFactors chosen = f.operands[0];
  chosen[of(call).dim] = {static_cast<int>(f.factors.size())};
  f.factors.push_back({FactorKind::Replicate, of(call).k});
  f.results = {chosen, chosen};
  return f;
}

std::vector<Sample> samples() {
  auto sample = [](std::string name, HostTensor x, int64_t dim, int64_t k) {
    return plain_sample(std::move(name), {std::move(x)}, TopKAttributes{dim, k});
  };
  return {sample("of rows", sample_tensor({4, 8}, 1), 1, 2), sample("of columns", sample_tensor({8, 4}, 1), 0, 4),
          sample("of equal ones", sample_tensor({4, 8}, 1, 0, 2, DType::S32), 1, 3)};
}

}  // namespace

const OpRecord top_k_op = {
    .name = "top_k",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

TopK top_k(Value x, int64_t dim, int64_t k) {
  const std::vector<Value> results = x.graph->append(top_k_op, TopKAttributes{dim, k}, {x});
  return {results[0], results[1]};
}

}  // namespace tethys
