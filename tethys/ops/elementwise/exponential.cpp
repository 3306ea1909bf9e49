#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) { return {multiply(*c.cotangents[0], c.results[0])}; }

std::vector<Sample> samples() { return unary_samples(-2, 2); }

}  // namespace

const OpRecord exponential_op = {
    .name = "exponential",
    .stablehlo = "stablehlo.exponential",
    .infer = infer_floating,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
