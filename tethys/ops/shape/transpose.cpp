#include <fmt/ranges.h>

#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tethys {

struct TransposeAttributes {
  Dims permutation;
  bool operator==(const TransposeAttributes&) const = default;
};
static std::string describe(const TransposeAttributes& a) { return to_string(a.permutation); }

namespace {

const Dims& permutation_of(const OpCall& call) { return call.attributes.as<TransposeAttributes>().permutation; }

Dims inverse(const Dims& permutation) {
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = static_cast<int64_t>(i);
  return inverse;
}

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.operands[0];
  std::vector<bool> seen(x.dims.size(), false);
  TensorType result{x.dtype, {}};
  for (int64_t d : permutation_of(call)) {
    require(d >= 0 && d < x.rank() && !seen[d], "{} is no permutation of the dimensions of {}",
            to_string(permutation_of(call)), to_string(x));
    seen[d] = true;
    result.dims.push_back(x.dims[d]);
  }
  require(result.rank() == x.rank(), "{} is no permutation of the dimensions of {}", to_string(permutation_of(call)),
          to_string(x));
  return {result};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  return c.writer.op("stablehlo.transpose", c.operands, c.results,
                     {{"permutation", stablehlo::i64_array(permutation_of(c.call))}});
}

Cotangents vjp(const VjpContext& c) { return {transpose(*c.cotangents[0], inverse(permutation_of(c.call)))}; }

Factors factors(const OpCall& call) {
  Factors f = elementwise_factors(call.operands[0].dims, 1, Linearity::Joint);
  f.results[0].clear();
  for (int64_t d : permutation_of(call)) f.results[0].push_back(f.operands[0][d]);
  return f;
}

std::vector<Sample> samples() {
  return {plain_sample("rank 3", {sample_tensor({4, 2, 8}, 1)}, TransposeAttributes{{2, 0, 1}})};
}

}  // namespace

const OpRecord transpose_op = {
    .name = "transpose",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value transpose(Value x, Dims permutation) {
  if (permutation == dim_range(0, x.rank())) return x;
  return x.graph->append(transpose_op, TransposeAttributes{std::move(permutation)}, {x})[0];
}

}  // namespace tethys
