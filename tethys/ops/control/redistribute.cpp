#include "ops/control/redistribute.h"

#include "ops/elementwise/convert.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {

std::string describe(const RedistributeAttributes& a) {
  std::string text = a.target ? "to " + to_string(*a.target) : "like";
  if (a.backward_dtype) text += fmt::format(" backward {}", tethys::name_of(*a.backward_dtype));
  if (!a.keep) text += " not kept";
  return a.unreduced ? text + " unreduced" : text;
}

const RedistributeAttributes& redistribute_attributes(const Attributes& a) { return a.as<RedistributeAttributes>(); }

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const bool like = !redistribute_attributes(call.attributes).target;
  require(call.operands.size() == (like ? 2 : 1), "{} operands", call.operands.size());
  require(call.declared.size() == 1 && call.declared[0].rank() == call.operands[0].rank(), "{} to another rank",
          to_string(call.operands[0]));
  return call.declared;
}

// x, with zeros at its ends up to the shape of an operand that is longer by its padding.
Value lengthened(Value x, const Dims& dims) {
  if (x.dims() == dims) return x;
  Dims high = dims;
  for (size_t d = 0; d < high.size(); ++d) high[d] -= x.dims()[d];
  return pad(x, splat(*x.graph, {x.dtype(), {}}, 0), Dims(high.size(), 0), high);
}

// The gradient goes back to where the operand lies. A widened gradient is widened before it is reduced.
Cotangents vjp(const VjpContext& c) {
  const auto& a = redistribute_attributes(c.call.attributes);
  const Value g = convert(*c.cotangents[0], a.backward_dtype.value_or(c.operands[0].dtype()));
  Cotangents result(c.operands.size());
  result[0] = a.unreduced ? lengthened(g, c.operands[0].dims()) : redistribute_like(g, c.operands[0]);
  return result;
}

std::vector<Sample> samples() {
  return {plain_sample("identity", {sample_tensor({4, 8}, 1)}, RedistributeAttributes{Placement{}, std::nullopt, true},
                       {{DType::F64, {4, 8}}})};
}

}  // namespace

const OpRecord redistribute_op = {
    .name = "redistribute",
    .infer = infer,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .samples = samples,
};

Value redistribute(Value x, TensorType type, RedistributeAttributes attributes) {
  return x.graph->append(redistribute_op, std::move(attributes), {x}, {}, {std::move(type)})[0];
}

Value redistribute(Value x, Placement target) {
  return redistribute(x, x.type(), {std::move(target), std::nullopt, true});
}

Value redistribute_like(Value x, Value like) {
  return x.graph->append(redistribute_op, RedistributeAttributes{}, {x, like}, {}, {{x.dtype(), like.dims()}})[0];
}

}  // namespace tethys
