#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) { return {*c.cotangents[0], *c.cotangents[0]}; }

std::vector<Sample> samples() { return binary_samples(-1, 1); }

}  // namespace

const OpRecord add_op = {
    .name = "add",
    .stablehlo = "stablehlo.add",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors_joint,
    .samples = samples,
};

}  // namespace tethys
