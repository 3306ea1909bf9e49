#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/sort/sort.h"

namespace tethys {

struct CumulativeSumAttributes {
  int64_t dim = 0;
  bool reverse = false;
  bool operator==(const CumulativeSumAttributes&) const = default;
};
static std::string describe(const CumulativeSumAttributes& a) {
  return fmt::format("along {}{}", a.dim, a.reverse ? " reverse" : "");
}

namespace {

const CumulativeSumAttributes& of(const OpCall& call) { return call.attributes.as<CumulativeSumAttributes>(); }

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.operands[0];
  const int64_t dim = of(call).dim;
  require(dim >= 0 && dim < x.rank() && x.dims[dim] > 0, "a cumulative sum of {} along {}", to_string(x), dim);
  return {x};
}

// A window over the whole axis that slides in from one end: XLA makes a tree of such sums.
std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const TensorType& type = c.results[0];
  const auto& [dim, reverse] = of(c.call);
  const auto axis = static_cast<size_t>(dim);
  Dims window(type.dims.size(), 1);
  window[axis] = type.dims[axis];
  std::vector<std::vector<int64_t>> padding(type.dims.size(), {0, 0});
  padding[axis][reverse ? 1 : 0] = type.dims[axis] - 1;
  const stablehlo::Ssa zero = c.writer.splat({type.dtype, {}}, 0);
  return c.writer.op("stablehlo.reduce_window", {c.operands[0], zero}, {type},
                     {{"window_dimensions", stablehlo::i64_array(window)}, {"padding", stablehlo::i64_matrix(padding)}},
                     {reduction_region(Reduction::Sum, type.dtype)});
}

Cotangents vjp(const VjpContext& c) { return {cumulative_sum(*c.cotangents[0], of(c.call).dim, !of(c.call).reverse)}; }

Factors factors(const OpCall& call) {
  Factors f = elementwise_factors(call.operands[0].dims, 1, Linearity::Joint);
  f.factors[of(call).dim].kind = FactorKind::Replicate;
  return f;
}

std::vector<Sample> samples() {
  auto sample = [](std::string name, HostTensor x, int64_t dim, bool reverse) {
    return plain_sample(std::move(name), {std::move(x)}, CumulativeSumAttributes{dim, reverse});
  };
  return {sample("of rows", sample_tensor({4, 8}, 1), 1, false),
          sample("from the end", sample_tensor({8, 4, 3}, 1), 0, true),
          sample("of counts", sample_tensor({8}, 1, 0, 9, DType::S32), 0, false)};
}

}  // namespace

const OpRecord cumulative_sum_op = {
    .name = "cumulative_sum",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value cumulative_sum(Value x, int64_t dim, bool reverse) {
  return x.graph->append(cumulative_sum_op, CumulativeSumAttributes{dim, reverse}, {x})[0];
}

}  // namespace tethys
