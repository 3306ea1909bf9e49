#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return binary_samples(0, 30, DType::U32); }

}  // namespace

const OpRecord shift_right_logical_op = {
    .name = "shift_right_logical",
    .stablehlo = "stablehlo.shift_right_logical",
    .infer = infer_bits,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
