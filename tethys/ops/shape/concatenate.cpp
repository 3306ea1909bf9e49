#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tethys {

struct ConcatenateAttributes {
  int64_t dim;
  bool operator==(const ConcatenateAttributes&) const = default;
};
static std::string describe(const ConcatenateAttributes& a) { return fmt::format("dim {}", a.dim); }

namespace {

int64_t dim_of(const OpCall& call) { return call.attributes.as<ConcatenateAttributes>().dim; }

std::vector<TensorType> infer(const OpCall& call) {
  require(!call.operands.empty(), "nothing to concatenate");
  const int64_t dim = dim_of(call);
  TensorType result = call.operands[0];
  require(dim >= 0 && dim < result.rank(), "no dimension {} in {}", dim, to_string(result));
  for (size_t i = 1; i < call.operands.size(); ++i) {
    TensorType expected = call.operands[0];
    require(call.operands[i].rank() == expected.rank(), "{} beside {}", to_string(call.operands[i]),
            to_string(expected));
    expected.dims[dim] = call.operands[i].dims[dim];
    require(call.operands[i] == expected, "operand {} is {}, expected {}", i, to_string(call.operands[i]),
            to_string(expected));
    result.dims[dim] += expected.dims[dim];
  }
  return {result};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  return c.writer.op("stablehlo.concatenate", c.operands, c.results,
                     {{"dimension", stablehlo::i64_attribute(dim_of(c.call))}});
}

Cotangents vjp(const VjpContext& c) {
  Cotangents result;
  int64_t start = 0;
  for (const Value& part : c.operands) {
    const int64_t limit = start + part.dims()[dim_of(c.call)];
    result.push_back(slice_dim(*c.cotangents[0], dim_of(c.call), start, limit));
    start = limit;
  }
  return result;
}

Factors factors(const OpCall& call) {
  Factors f = elementwise_factors(call.operands[0].dims, call.operands.size(), Linearity::Joint);
  f.factors[dim_of(call)].kind = FactorKind::Replicate;
  return f;
}

std::vector<Sample> samples() {
  return {plain_sample("columns", {sample_tensor({4, 3}, 1), sample_tensor({4, 2}, 2)}, ConcatenateAttributes{1})};
}

}  // namespace

const OpRecord concatenate_op = {
    .name = "concatenate",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value concatenate(std::span<const Value> parts, int64_t dim) {
  return parts[0].graph->append(concatenate_op, ConcatenateAttributes{dim}, {parts.begin(), parts.end()})[0];
}

}  // namespace tethys
