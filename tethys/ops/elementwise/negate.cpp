#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) { return {negate(*c.cotangents[0])}; }

std::vector<Sample> samples() { return unary_samples(-1, 1); }

}  // namespace

const OpRecord negate_op = {
    .name = "negate",
    .stablehlo = "stablehlo.negate",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_single,
    .samples = samples,
};

}  // namespace tethys
