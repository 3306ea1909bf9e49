#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return unary_samples(-5, 5); }

}  // namespace

const OpRecord floor_op = {
    .name = "floor",
    .stablehlo = "stablehlo.floor",
    .infer = infer_floating,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
