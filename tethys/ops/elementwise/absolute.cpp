#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value g = *c.cotangents[0];
  return {multiply(g, sign(c.operands[0]))};
}

std::vector<Sample> samples() { return unary_samples(-1, 1); }

}  // namespace

const OpRecord absolute_op = {
    .name = "absolute",
    .stablehlo = "stablehlo.abs",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
