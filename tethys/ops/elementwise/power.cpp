#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value g = *c.cotangents[0];
  const Value x = c.operands[0];
  const Value n = c.operands[1];
  const Value dx = multiply(n, power(x, subtract(n, splat_like(n, 1))));
  return {multiply(g, dx), multiply(g, multiply(c.results[0], logarithm(x)))};
}

std::vector<Sample> samples() { return binary_samples(0.3, 2); }

}  // namespace

const OpRecord power_op = {
    .name = "power",
    .stablehlo = "stablehlo.power",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
