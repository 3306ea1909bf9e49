#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value g = *c.cotangents[0];
  return {multiply(g, cosine(c.operands[0]))};
}

std::vector<Sample> samples() { return unary_samples(-3, 3); }

}  // namespace

const OpRecord sine_op = {
    .name = "sine",
    .stablehlo = "stablehlo.sine",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
