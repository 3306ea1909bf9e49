#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  const Value g = *c.cotangents[0];
  return {g, negate(g)};
}

std::vector<Sample> samples() { return binary_samples(-1, 1); }

}  // namespace

const OpRecord subtract_op = {
    .name = "subtract",
    .stablehlo = "stablehlo.subtract",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_joint,
    .samples = samples,
};

}  // namespace tethys
