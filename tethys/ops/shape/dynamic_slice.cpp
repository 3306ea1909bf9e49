#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

void check_starts(const OpCall& call, size_t first, int64_t rank) {
  require(static_cast<int64_t>(call.operands.size() - first) == rank, "{} start indices for rank {}",
          call.operands.size() - first, rank);
  for (size_t i = first; i < call.operands.size(); ++i) {
    require(call.operands[i] == TensorType{DType::S32, {}}, "start index {} is {}, expected s32[]", i - first,
            to_string(call.operands[i]));
  }
}

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.operands[0];
  check_starts(call, 1, x.rank());
  require(call.declared.size() == 1 && call.declared[0].rank() == x.rank(), "a window of another rank than {}",
          to_string(x));
  for (int64_t d = 0; d < x.rank(); ++d) {
    require(call.declared[0].dims[d] <= x.dims[d], "window {} sticks out of {}", to_string(call.declared[0]),
            to_string(x));
  }
  return {{x.dtype, call.declared[0].dims}};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  return c.writer.op("stablehlo.dynamic_slice", c.operands, c.results,
                     {{"slice_sizes", stablehlo::i64_array(c.results[0].dims)}});
}

Cotangents vjp(const VjpContext& c) {
  Cotangents result(c.operands.size());
  const Value g = *c.cotangents[0];
  const Value zeros = splat(c.graph, c.operands[0].type(), 0);
  result[0] = dynamic_update_slice(zeros, g, std::span(c.operands).subspan(1));
  return result;
}

// A dimension whose window is the whole passes; any other must be whole on every device.
Factors windowed(const Dims& whole, const Dims& window, size_t tensors, size_t scalars) {
  Factors f = elementwise_factors(whole, tensors, Linearity::Joint);
  for (size_t d = 0; d < whole.size(); ++d) {
    if (whole[d] != window[d]) f.factors[d].kind = FactorKind::Replicate;
  }
  f.operands.resize(tensors + scalars);
  f.linear_operands.assign(tensors + scalars, false);
  for (size_t i = 0; i < tensors; ++i) f.linear_operands[i] = true;
  return f;
}

Factors factors(const OpCall& call) {
  return windowed(call.operands[0].dims, call.declared[0].dims, 1, call.operands.size() - 1);
}

HostTensor index(int32_t value) { return HostTensor::scalar<int32_t>(value); }

std::vector<Sample> samples() {
  return {plain_sample("rows", {sample_tensor({4, 8}, 1), index(1), index(0)}, {}, {{DType::F64, {2, 8}}})};
}

std::vector<TensorType> infer_update(const OpCall& call) {
  const TensorType& x = call.operands[0];
  const TensorType& update = call.operands[1];
  check_starts(call, 2, x.rank());
  require(update.rank() == x.rank() && update.dtype == x.dtype, "an update {} of {}", to_string(update), to_string(x));
  for (int64_t d = 0; d < x.rank(); ++d) {
    require(update.dims[d] <= x.dims[d], "update {} sticks out of {}", to_string(update), to_string(x));
  }
  return {x};
}

Cotangents vjp_update(const VjpContext& c) {
  Cotangents result(c.operands.size());
  const Value g = *c.cotangents[0];
  const auto starts = std::span(c.operands).subspan(2);
  result[0] = dynamic_update_slice(g, splat(c.graph, c.operands[1].type(), 0), starts);
  result[1] = dynamic_slice(g, starts, c.operands[1].dims());
  return result;
}

Factors factors_update(const OpCall& call) {
  return windowed(call.operands[0].dims, call.operands[1].dims, 2, call.operands.size() - 2);
}

std::vector<Sample> samples_update() {
  return {plain_sample("rows", {sample_tensor({4, 8}, 1), sample_tensor({2, 8}, 2), index(1), index(0)})};
}

}  // namespace

const OpRecord dynamic_slice_op = {
    .name = "dynamic_slice",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

const OpRecord dynamic_update_slice_op = {
    .name = "dynamic_update_slice",
    .infer = infer_update,
    .emit = [](EmitContext& c) { return c.writer.op("stablehlo.dynamic_update_slice", c.operands, c.results); },
    .gradient = Gradient::Rule,
    .vjp = vjp_update,
    .factors = factors_update,
    .samples = samples_update,
};

Value dynamic_slice(Value x, std::span<const Value> starts, Dims sizes) {
  std::vector<Value> operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return x.graph->append(dynamic_slice_op, {}, operands, {}, {{x.dtype(), std::move(sizes)}})[0];
}

Value dynamic_update_slice(Value x, Value update, std::span<const Value> starts) {
  std::vector<Value> operands = {x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return x.graph->append(dynamic_update_slice_op, {}, operands)[0];
}

}  // namespace tethys
