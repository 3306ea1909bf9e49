#include "ops/control/barrier.h"

#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

Cotangents vjp(const VjpContext& c) { return c.cotangents; }

Factors factors(const OpCall& call) { return pairwise_factors(call.operands, FactorKind::Pass, Linearity::Each); }

std::vector<Sample> samples() { return {plain_sample("pair", {sample_tensor({4, 8}, 1), sample_tensor({3}, 2)})}; }

}  // namespace

const OpRecord optimization_barrier_op = {
    .name = "optimization_barrier",
    .stablehlo = "stablehlo.optimization_barrier",
    .infer = [](const OpCall& call) { return call.operands; },
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

std::vector<Value> optimization_barrier(std::span<const Value> values) {
  if (values.empty()) return {};
  return values[0].graph->append(optimization_barrier_op, {}, {values.begin(), values.end()});
}

}  // namespace tethys
