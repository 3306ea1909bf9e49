#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"

namespace tethys {

struct ConstantAttributes {
  HostTensor value;
  bool operator==(const ConstantAttributes&) const = default;
};
static std::string describe(const ConstantAttributes& a) { return to_string(a.value.type()); }

namespace {

std::vector<TensorType> infer(const OpCall& call) { return {call.attributes.as<ConstantAttributes>().value.type()}; }

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  return {c.writer.constant(c.call.attributes.as<ConstantAttributes>().value)};
}

Factors factors(const OpCall& call) {
  Factors f = elementwise_factors(call.declared[0].dims, 0, Linearity::No);
  for (Factor& factor : f.factors) factor.kind = FactorKind::Replicate;
  return f;
}

std::vector<Sample> samples() { return {plain_sample("matrix", {}, ConstantAttributes{sample_tensor({4, 2}, 1)})}; }

}  // namespace

const OpRecord constant_op = {
    .name = "constant",
    .infer = infer,
    .emit = emit,
    .factors = factors,
    .samples = samples,
};

Value constant(Graph& graph, HostTensor value) {
  return graph.append(constant_op, ConstantAttributes{std::move(value)}, {})[0];
}

}  // namespace tethys
