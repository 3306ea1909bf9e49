#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value y = c.results[0];
  return {multiply(*c.cotangents[0], multiply(y, subtract(splat_like(y, 1), y)))};
}

std::vector<Sample> samples() { return unary_samples(-3, 3); }

}  // namespace

const OpRecord logistic_op = {
    .name = "logistic",
    .stablehlo = "stablehlo.logistic",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
