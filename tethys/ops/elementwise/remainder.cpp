#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return binary_samples(1, 50, DType::S32); }

}  // namespace

const OpRecord remainder_op = {
    .name = "remainder",
    .stablehlo = "stablehlo.remainder",
    .infer = infer_elementwise,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
