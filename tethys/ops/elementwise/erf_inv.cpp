#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  // d/dx erf⁻¹(x) = √π/2 · exp(erf⁻¹(x)²)
  const Value y = c.results[0];
  const Value slope = multiply(splat_like(y, 0.88622692545275801365), exponential(multiply(y, y)));
  return {multiply(*c.cotangents[0], slope)};
}

std::vector<Sample> samples() { return unary_samples(-0.9, 0.9); }

}  // namespace

const OpRecord erf_inv_op = {
    .name = "erf_inv",
    .stablehlo = "chlo.erf_inv",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
