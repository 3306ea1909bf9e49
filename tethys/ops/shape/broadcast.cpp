#include <fmt/ranges.h>

#include <algorithm>

#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tethys {

struct BroadcastAttributes {
  Dims dims;
  bool operator==(const BroadcastAttributes&) const = default;
};
static std::string describe(const BroadcastAttributes& a) { return fmt::format("dims {}", to_string(a.dims)); }

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const Dims& dims = call.attributes.as<BroadcastAttributes>().dims;
  const TensorType& x = call.operands[0];
  require(call.declared.size() == 1 && dims.size() == x.dims.size(), "{} broadcast along dims {}", to_string(x),
          to_string(dims));
  const TensorType& result = call.declared[0];
  for (size_t i = 0; i < dims.size(); ++i) {
    require((i == 0 || dims[i] > dims[i - 1]) && dims[i] < result.rank() && result.dims[dims[i]] == x.dims[i],
            "{} does not broadcast to {} along dims {}", to_string(x), to_string(result), to_string(dims));
  }
  return {{x.dtype, result.dims}};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const Dims& dims = c.call.attributes.as<BroadcastAttributes>().dims;
  return c.writer.op("stablehlo.broadcast_in_dim", c.operands, c.results,
                     {{"broadcast_dimensions", stablehlo::i64_array(dims)}});
}

Cotangents vjp(const VjpContext& c) {
  const Dims& dims = c.call.attributes.as<BroadcastAttributes>().dims;
  Dims added;
  for (int64_t d = 0; d < c.results[0].rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) added.push_back(d);
  }
  return {reduce_sum(*c.cotangents[0], added)};
}

Factors factors(const OpCall& call) {
  const Dims& dims = call.attributes.as<BroadcastAttributes>().dims;
  Factors f = elementwise_factors(call.declared[0].dims, 0, Linearity::Joint);
  TensorFactors x;
  for (int64_t d : dims) x.push_back(f.results[0][d]);
  f.operands = {x};
  return f;
}

std::vector<Sample> samples() {
  return {plain_sample("rows", {sample_tensor({8}, 1)}, BroadcastAttributes{{1}}, {{DType::F64, {4, 8}}})};
}

}  // namespace

const OpRecord broadcast_op = {
    .name = "broadcast",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
    .recompute = true,
};

Value broadcast(Value x, Dims shape, Dims dims) {
  if (shape == x.dims()) return x;
  return x.graph->append(broadcast_op, BroadcastAttributes{std::move(dims)}, {x}, {},
                         {{x.dtype(), std::move(shape)}})[0];
}

}  // namespace tethys
