#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  // d/dx x^(−1/2) = −1/2 · x^(−3/2)
  const Value y = c.results[0];
  const Value cube = multiply(y, multiply(y, y));
  return {multiply(*c.cotangents[0], multiply(splat_like(y, -0.5), cube))};
}

std::vector<Sample> samples() { return unary_samples(0.2, 3); }

}  // namespace

const OpRecord rsqrt_op = {
    .name = "rsqrt",
    .stablehlo = "stablehlo.rsqrt",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
