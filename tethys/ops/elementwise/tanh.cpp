#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value y = c.results[0];
  return {multiply(*c.cotangents[0], subtract(splat_like(y, 1), multiply(y, y)))};
}

std::vector<Sample> samples() { return unary_samples(-2, 2); }

}  // namespace

const OpRecord tanh_op = {
    .name = "tanh",
    .stablehlo = "stablehlo.tanh",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
