#include "ops/elementwise/select.h"

#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const auto& [p, x, y] = std::tie(call.operands[0], call.operands[1], call.operands[2]);
  require(p == x.with_dtype(DType::Bool) && x == y, "expected a bool and two tensors of its shape, got {}, {}, {}",
          to_string(p), to_string(x), to_string(y));
  return {x};
}

Cotangents vjp(const VjpContext& c) {
  const Value g = *c.cotangents[0];
  const Value zero = splat_like(g, 0);
  return {std::nullopt, select(c.operands[0], g, zero), select(c.operands[0], zero, g)};
}

Factors factors(const OpCall& call) {
  Factors f = factors_joint(call);
  f.linear_operands = {false, true, true};
  return f;
}

std::vector<Sample> samples() {
  return {plain_sample(
      "matrix", {sample_tensor({4, 8}, 1, 0, 2, DType::Bool), sample_tensor({4, 8}, 2), sample_tensor({4, 8}, 3)})};
}

}  // namespace

const OpRecord select_op = {
    .name = "select",
    .stablehlo = "stablehlo.select",
    .infer = infer,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value select(Value predicate, Value x, Value y) { return x.graph->append(select_op, {}, {predicate, x, y})[0]; }

}  // namespace tethys
