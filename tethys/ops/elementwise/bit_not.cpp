#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return unary_samples(0, 100, DType::U32); }

}  // namespace

const OpRecord bit_not_op = {
    .name = "bit_not",
    .stablehlo = "stablehlo.not",
    .infer = infer_bits,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
