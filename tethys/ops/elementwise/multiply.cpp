#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value g = *c.cotangents[0];
  return {multiply(g, c.operands[1]), multiply(g, c.operands[0])};
}

std::vector<Sample> samples() { return binary_samples(-1, 1); }

}  // namespace

const OpRecord multiply_op = {
    .name = "multiply",
    .stablehlo = "stablehlo.multiply",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_single,
    .samples = samples,
};

}  // namespace tethys
