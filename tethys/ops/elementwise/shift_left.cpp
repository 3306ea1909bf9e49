#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return binary_samples(0, 30, DType::U32); }

}  // namespace

const OpRecord shift_left_op = {
    .name = "shift_left",
    .stablehlo = "stablehlo.shift_left",
    .infer = infer_bits,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
