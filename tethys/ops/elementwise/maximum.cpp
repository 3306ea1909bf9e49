#include "ops/elementwise/compare.h"
#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) {
  // The first operand takes the gradient where both are equal.
  return cotangents_of_choice(c, greater_equal(c.operands[0], c.operands[1]));
}

std::vector<Sample> samples() { return binary_samples(-1, 1); }

}  // namespace

const OpRecord maximum_op = {
    .name = "maximum",
    .stablehlo = "stablehlo.maximum",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
