#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value y = c.results[0];
  return {divide(multiply(splat_like(y, 0.5), *c.cotangents[0]), y)};
}

std::vector<Sample> samples() { return unary_samples(0.2, 3); }

}  // namespace

const OpRecord sqrt_op = {
    .name = "sqrt",
    .stablehlo = "stablehlo.sqrt",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
