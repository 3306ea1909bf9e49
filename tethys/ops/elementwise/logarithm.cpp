#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) { return {divide(*c.cotangents[0], c.operands[0])}; }

std::vector<Sample> samples() { return unary_samples(0.1, 3); }

}  // namespace

const OpRecord logarithm_op = {
    .name = "logarithm",
    .stablehlo = "stablehlo.log",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
