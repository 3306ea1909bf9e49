#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return unary_samples(-1, 1); }

}  // namespace

const OpRecord sign_op = {
    .name = "sign",
    .stablehlo = "stablehlo.sign",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
