#include <fmt/ranges.h>

#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {

struct SliceAttributes {
  Dims start, limit, strides;
  // Per dimension: nothing is cut off. Sizes live in types only, so a whole dimension's limit is not looked at.
  std::vector<bool> whole;
  bool operator==(const SliceAttributes&) const = default;
};
static std::string describe(const SliceAttributes& a) {
  return fmt::format("{} to {} by {}", to_string(a.start), to_string(a.limit), to_string(a.strides));
}

namespace {

const SliceAttributes& of(const OpCall& call) { return call.attributes.as<SliceAttributes>(); }

int64_t limit(const SliceAttributes& a, const TensorType& x, size_t dim) {
  return a.whole[dim] ? x.dims[dim] : a.limit[dim];
}

std::vector<TensorType> infer(const OpCall& call) {
  const SliceAttributes& a = of(call);
  const TensorType& x = call.operands[0];
  require(a.start.size() == x.dims.size(), "a slice of rank {} of {}", a.start.size(), to_string(x));
  TensorType result = x;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    const int64_t end = limit(a, x, d);
    require(a.start[d] >= 0 && a.start[d] <= end && end <= x.dims[d] && a.strides[d] > 0, "slice {} to {} of {}",
            to_string(a.start), to_string(a.limit), to_string(x));
    result.dims[d] = (end - a.start[d] + a.strides[d] - 1) / a.strides[d];
  }
  return {result};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const SliceAttributes& a = of(c.call);
  Dims limits;
  for (size_t d = 0; d < a.limit.size(); ++d) limits.push_back(limit(a, c.operands[0].type, d));
  return c.writer.op("stablehlo.slice", c.operands, c.results,
                     {{"start_indices", stablehlo::i64_array(a.start)},
                      {"limit_indices", stablehlo::i64_array(limits)},
                      {"strides", stablehlo::i64_array(a.strides)}});
}

Cotangents vjp(const VjpContext& c) {
  const SliceAttributes& a = of(c.call);
  const Value g = *c.cotangents[0];
  Dims high;
  for (size_t d = 0; d < a.start.size(); ++d) {
    require(a.strides[d] == 1, "the gradient of a slice with strides {} is not supported", to_string(a.strides));
    high.push_back(c.operands[0].dims()[d] - limit(a, c.operands[0].type(), d));
  }
  return {pad(g, splat(c.graph, {g.dtype(), {}}, 0), a.start, high)};
}

Factors factors(const OpCall& call) {
  Factors f = elementwise_factors(call.operands[0].dims, 1, Linearity::Joint);
  for (size_t d = 0; d < f.factors.size(); ++d) {
    if (!of(call).whole[d]) f.factors[d].kind = FactorKind::Replicate;
  }
  return f;
}

std::vector<Sample> samples() {
  return {plain_sample("columns", {sample_tensor({4, 8}, 1)}, SliceAttributes{{0, 2}, {4, 7}, {1, 1}, {true, false}})};
}

}  // namespace

const OpRecord slice_op = {
    .name = "slice",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value slice(Value x, Dims start, Dims limit, Dims strides) {
  if (strides.empty()) strides.assign(start.size(), 1);
  std::vector<bool> whole;
  for (size_t d = 0; d < start.size(); ++d)
    whole.push_back(start[d] == 0 && limit[d] == x.dims()[d] && strides[d] == 1);
  return x.graph->append(
      slice_op, SliceAttributes{std::move(start), std::move(limit), std::move(strides), std::move(whole)}, {x})[0];
}

Value slice_dim(Value x, int64_t dim, int64_t start, int64_t limit) {
  Dims starts(x.dims().size(), 0);
  Dims limits = x.dims();
  starts[dim] = start;
  limits[dim] = limit;
  return slice(x, std::move(starts), std::move(limits));
}

}  // namespace tethys
