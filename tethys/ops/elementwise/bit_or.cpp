#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return binary_samples(0, 1000, DType::U32); }

}  // namespace

const OpRecord bit_or_op = {
    .name = "bit_or",
    .stablehlo = "stablehlo.or",
    .infer = infer_bits,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
