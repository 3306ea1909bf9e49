#include "ops/elementwise/elementwise.h"

#include "ops/elementwise/select.h"
#include "ops/shape/splat.h"

namespace tethys {

std::vector<TensorType> infer_elementwise(const OpCall& call) {
  for (size_t i = 1; i < call.operands.size(); ++i) {
    require(call.operands[i] == call.operands[0], "operands differ: operand 0 is {}, operand {} is {}",
            to_string(call.operands[0]), i, to_string(call.operands[i]));
  }
  return {call.operands.at(0)};
}

std::vector<TensorType> infer_floating(const OpCall& call) {
  require(is_floating(call.operands.at(0).dtype), "expected a floating dtype, got {}", to_string(call.operands[0]));
  return infer_elementwise(call);
}

std::vector<TensorType> infer_bits(const OpCall& call) {
  require(!is_floating(call.operands.at(0).dtype), "expected an integer or bool, got {}", to_string(call.operands[0]));
  return infer_elementwise(call);
}

std::vector<TensorType> infer_predicate(const OpCall& call) {
  return {infer_floating(call)[0].with_dtype(DType::Bool)};
}

std::vector<stablehlo::Ssa> emit_plain(EmitContext& context) {
  return context.writer.op(context.call.op.stablehlo, context.operands, context.results);
}

Factors factors_nonlinear(const OpCall& call) {
  return elementwise_factors(call.operands[0].dims, call.operands.size(), Linearity::No);
}
Factors factors_joint(const OpCall& call) {
  return elementwise_factors(call.operands[0].dims, call.operands.size(), Linearity::Joint);
}
Factors factors_single(const OpCall& call) {
  return elementwise_factors(call.operands[0].dims, call.operands.size(), Linearity::Single);
}

Value splat_like(Value like, double value) { return splat(*like.graph, like.type(), value); }

Cotangents cotangents_of_choice(const VjpContext& context, Value first) {
  const Value g = *context.cotangents[0];
  const Value zero = splat_like(g, 0);
  return {select(first, g, zero), select(first, zero, g)};
}

std::vector<Sample> unary_samples(double low, double high, DType dtype) {
  return {plain_sample("matrix", {sample_tensor({4, 8}, 1, low, high, dtype)}),
          plain_sample("scalar", {sample_tensor({}, 2, low, high, dtype)})};
}

std::vector<Sample> binary_samples(double low, double high, DType dtype) {
  return {
      plain_sample("matrix", {sample_tensor({4, 8}, 1, low, high, dtype), sample_tensor({4, 8}, 2, low, high, dtype)})};
}

}  // namespace tethys
