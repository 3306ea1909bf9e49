#include "ops/elementwise/convert.h"

#include "ops/elementwise/elementwise.h"

namespace tethys {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require(call.declared.size() == 1 && call.declared[0].dims == call.operands[0].dims, "the shape of {} cannot change",
          to_string(call.operands[0]));
  return call.declared;
}

Cotangents vjp(const VjpContext& c) {
  if (!is_floating(c.operands[0].dtype()) || !is_floating(c.results[0].dtype())) return {std::nullopt};
  return {convert(*c.cotangents[0], c.operands[0].dtype())};
}

// A sum of rounded parts is not the rounded sum: a Partial is resolved before its dtype is narrowed.
Factors factors(const OpCall& call) {
  const DType from = call.operands[0].dtype;
  const DType to = call.declared[0].dtype;
  return promote(from, to) == to && is_floating(from) ? factors_single(call) : factors_nonlinear(call);
}

std::vector<Sample> samples() {
  std::vector<Sample> widen = unary_samples(-1, 1, DType::F32);
  widen[0].declared = {{DType::F64, {4, 8}}};
  widen[1].declared = {{DType::F64, {}}};
  return widen;
}

}  // namespace

const OpRecord convert_op = {
    .name = "convert",
    .stablehlo = "stablehlo.convert",
    .infer = infer,
    .emit = emit_plain,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
    .recompute = true,
};

Value convert(Value x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.graph->append(convert_op, {}, {x}, {}, {x.type().with_dtype(dtype)})[0];
}

}  // namespace tethys
