#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return binary_samples(0, 1000, DType::U32); }

}  // namespace

const OpRecord bit_and_op = {
    .name = "bit_and",
    .stablehlo = "stablehlo.and",
    .infer = infer_bits,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
