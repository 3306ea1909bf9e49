#include <fmt/ranges.h>

#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tethys {

struct PadAttributes {
  Dims low, high;
  bool operator==(const PadAttributes&) const = default;
};
static std::string describe(const PadAttributes& a) {
  return fmt::format("low {} high {}", to_string(a.low), to_string(a.high));
}

namespace {

const PadAttributes& of(const OpCall& call) { return call.attributes.as<PadAttributes>(); }

std::vector<TensorType> infer(const OpCall& call) {
  const PadAttributes& a = of(call);
  TensorType result = call.operands[0];
  require(a.low.size() == result.dims.size() && a.high.size() == result.dims.size(), "padding of rank {} of {}",
          a.low.size(), to_string(result));
  require(call.operands[1] == TensorType{result.dtype, {}}, "{} padded with {}", to_string(result),
          to_string(call.operands[1]));
  for (size_t d = 0; d < a.low.size(); ++d) {
    require(a.low[d] >= 0 && a.high[d] >= 0, "negative padding {}, {}", to_string(a.low), to_string(a.high));
    result.dims[d] += a.low[d] + a.high[d];
  }
  return {result};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const PadAttributes& a = of(c.call);
  return c.writer.op("stablehlo.pad", c.operands, c.results,
                     {{"edge_padding_low", stablehlo::i64_array(a.low)},
                      {"edge_padding_high", stablehlo::i64_array(a.high)},
                      {"interior_padding", stablehlo::i64_array(Dims(a.low.size(), 0))}});
}

// The padding value's gradient is whatever of the cotangent lies outside of x.
Cotangents vjp(const VjpContext& c) {
  const PadAttributes& a = of(c.call);
  const Value g = *c.cotangents[0];
  Dims limit = a.low;
  for (size_t d = 0; d < limit.size(); ++d) limit[d] += c.operands[0].dims()[d];
  const Dims all = dim_range(0, g.rank());
  const Value inside = slice(g, a.low, limit);
  Cotangents result = {inside, std::nullopt};
  if (c.wanted[1]) result[1] = subtract(reduce_sum(g, all), reduce_sum(inside, all));
  return result;
}

// Linear in both together: a sum is padded with a sum, of which zeros are one.
Factors factors(const OpCall& call) {
  Factors f = elementwise_factors(call.operands[0].dims, 1, Linearity::Joint);
  for (size_t d = 0; d < f.factors.size(); ++d) {
    if (of(call).low[d] + of(call).high[d] > 0) f.factors[d].kind = FactorKind::Replicate;
  }
  f.operands.emplace_back();
  return f;
}

std::vector<Sample> samples() {
  return {plain_sample("columns", {sample_tensor({4, 3}, 1), HostTensor::scalar(0.0)}, PadAttributes{{0, 1}, {0, 4}})};
}

}  // namespace

const OpRecord pad_op = {
    .name = "pad",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value pad(Value x, Value value, Dims low, Dims high) {
  return x.graph->append(pad_op, PadAttributes{std::move(low), std::move(high)}, {x, value})[0];
}

}  // namespace tethys
