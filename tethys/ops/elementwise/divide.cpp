#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value g = divide(*c.cotangents[0], c.operands[1]);
  return {g, negate(multiply(g, c.results[0]))};
}

// Linear in the numerator only.
Factors factors(const OpCall& call) {
  Factors f = factors_single(call);
  f.linear_operands = {true, false};
  return f;
}

std::vector<Sample> samples() { return binary_samples(0.3, 2); }

}  // namespace

const OpRecord divide_op = {
    .name = "divide",
    .stablehlo = "stablehlo.divide",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

}  // namespace tethys
