#include "ops/sort/sort.h"

#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"

namespace tethys {

struct SortAttributes {
  int64_t dim = 0;
  Order order = Order::Ascending;
  bool operator==(const SortAttributes&) const = default;
};
static std::string describe(const SortAttributes& a) {
  return fmt::format("along {} {}", a.dim, a.order == Order::Ascending ? "ascending" : "descending");
}

namespace {

using stablehlo::Ssa;
using stablehlo::Writer;

const SortAttributes& of(const OpCall& call) { return call.attributes.as<SortAttributes>(); }

Ssa compared(Writer& w, const Ssa& a, const Ssa& b, const char* direction) {
  return w.op1("stablehlo.compare", {a, b}, {DType::Bool, {}},
               {{"comparison_direction", fmt::format("#stablehlo<comparison_direction {}>", direction)}});
}

// Whether a comes before b. NaN is unequal to itself; put behind all numbers, it leaves a strict weak order.
Ssa comes_before(Writer& w, Ssa a, Ssa b, Order order) {
  if (order == Order::Descending) std::swap(a, b);
  const Ssa less = compared(w, a, b, "LT");
  if (!is_floating(a.type.dtype)) return less;
  const TensorType truth{DType::Bool, {}};
  const Ssa a_is_number = compared(w, a, a, "EQ");
  const Ssa b_is_nan = compared(w, b, b, "NE");
  return w.op1("stablehlo.or", {less, w.op1("stablehlo.and", {a_is_number, b_is_nan}, truth)}, truth);
}

std::vector<TensorType> infer(const OpCall& call) {
  require(!call.operands.empty(), "sort of nothing");
  const TensorType& keys = call.operands[0];
  const int64_t dim = of(call).dim;
  require(dim >= 0 && dim < keys.rank(), "sort of {} along {}", to_string(keys), dim);
  for (const TensorType& t : call.operands) {
    require(t.dims == keys.dims, "{} sorted by {}: the shapes differ", to_string(t), to_string(keys));
  }
  return call.operands;
}

// The cotangents go the way back.
Cotangents vjp(const VjpContext& c) {
  Cotangents result(c.operands.size());
  for (size_t i = 0; i < c.operands.size(); ++i) {
    if (c.cotangents[i] && c.wanted[i]) {
      result[i] = unsorted(c.operands[0], *c.cotangents[i], of(c.call).dim, of(c.call).order);
    }
  }
  return result;
}

Factors factors(const OpCall& call) {
  Factors f = elementwise_factors(call.operands[0].dims, call.operands.size(), Linearity::No);
  f.factors[of(call).dim].kind = FactorKind::Replicate;
  f.results = f.operands;
  return f;
}

std::vector<Sample> samples() {
  auto sample = [](std::string name, std::vector<HostTensor> operands, int64_t dim, Order order) {
    return plain_sample(std::move(name), std::move(operands), SortAttributes{dim, order});
  };
  return {sample("rows", {sample_tensor({4, 8}, 1)}, 1, Order::Ascending),
          sample("columns with two others",
                 {sample_tensor({8, 4}, 1), sample_tensor({8, 4}, 2), sample_tensor({8, 4}, 3, 0, 9, DType::S32)}, 0,
                 Order::Descending),
          sample("equal keys", {sample_tensor({4, 8}, 1, 0, 3, DType::S32), sample_tensor({4, 8}, 2)}, 1,
                 Order::Descending)};
}

}  // namespace

const OpRecord sort_op = {
    .name = "sort",
    .infer = infer,
    .emit = [](EmitContext& c) { return emit_sort(c.writer, c.operands, of(c.call).dim, of(c.call).order); },
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

std::vector<Value> sort(std::span<const Value> tensors, int64_t dim, Order order) {
  return tensors[0].graph->append(sort_op, SortAttributes{dim, order}, {tensors.begin(), tensors.end()});
}

std::vector<Ssa> emit_sort(Writer& writer, const std::vector<Ssa>& tensors, int64_t dim, Order order) {
  std::vector<TensorType> types, scalars;  // of the comparison: two elements of each tensor
  for (const Ssa& tensor : tensors) {
    types.push_back(tensor.type);
    scalars.insert(scalars.end(), 2, {tensor.type.dtype, {}});
  }
  const stablehlo::Region region{scalars, [order](Writer& w, const std::vector<Ssa>& elements) {
                                   return std::vector<Ssa>{comes_before(w, elements[0], elements[1], order)};
                                 }};
  return writer.op("stablehlo.sort", tensors, types,
                   {{"dimension", stablehlo::i64_attribute(dim)}, {"is_stable", "true"}}, {region});
}

Value unsorted(Value x, Value sorted, int64_t dim, Order order) {
  const Value keyed[] = {x, iota(*x.graph, {DType::S32, x.dims()}, dim)};
  const Value origins = sort(keyed, dim, order)[1];
  const Value back[] = {origins, sorted};
  return sort(back, dim)[1];
}

}  // namespace tethys
