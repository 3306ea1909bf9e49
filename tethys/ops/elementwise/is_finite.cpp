#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<Sample> samples() { return unary_samples(-1, 1); }

}  // namespace

const OpRecord is_finite_op = {
    .name = "is_finite",
    .stablehlo = "stablehlo.is_finite",
    .infer = infer_predicate,
    .emit = emit_plain,
    .factors = factors_nonlinear,
    .samples = samples,
};

}  // namespace tethys
