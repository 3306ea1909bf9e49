#include "ops/reduce/reduce.h"

#include <algorithm>
#include <limits>

#include "ops/elementwise/compare.h"
#include "ops/elementwise/convert.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tethys {

struct ReduceAttributes {
  Reduction reduction;
  Dims dims;
  bool operator==(const ReduceAttributes&) const = default;
};
static std::string describe(const ReduceAttributes& a) {
  return fmt::format("{} over {}", name_of(a.reduction), to_string(a.dims));
}

const char* name_of(Reduction reduction) {
  static constexpr const char* kNames[] = {"sum", "max", "min"};
  return kNames[static_cast<size_t>(reduction)];
}

double neutral_of(Reduction reduction, DType dtype) {
  if (reduction == Reduction::Sum) return 0;
  const double sign = reduction == Reduction::Max ? -1 : 1;
  if (is_floating(dtype)) return sign * std::numeric_limits<double>::infinity();
  if (dtype == DType::Bool) return reduction == Reduction::Max ? 0 : 1;
  const auto bits = static_cast<int>(size_of(dtype) * 8);
  if (is_unsigned_integer(dtype)) return sign < 0 ? 0 : static_cast<double>(~uint64_t{0} >> (64 - bits));
  const int64_t highest = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  return static_cast<double>(sign < 0 ? -highest - 1 : highest);
}

const char* stablehlo_of(Reduction reduction) {
  static constexpr const char* kNames[] = {"stablehlo.add", "stablehlo.maximum", "stablehlo.minimum"};
  return kNames[static_cast<size_t>(reduction)];
}

stablehlo::Region reduction_region(Reduction reduction, DType dtype) {
  const TensorType scalar{dtype, {}};
  return {{scalar, scalar}, [reduction, scalar](stablehlo::Writer& w, const std::vector<stablehlo::Ssa>& args) {
            return w.op(stablehlo_of(reduction), args, {scalar});
          }};
}

namespace {

const ReduceAttributes& of(const OpCall& call) { return call.attributes.as<ReduceAttributes>(); }

bool is_reduced(const OpCall& call, int64_t dim) {
  const Dims& dims = of(call).dims;
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

Dims kept_dims(const OpCall& call) {
  Dims kept;
  for (int64_t d = 0; d < call.operands[0].rank(); ++d) {
    if (!is_reduced(call, d)) kept.push_back(d);
  }
  return kept;
}

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.operands[0];
  const Dims& dims = of(call).dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    require(dims[i] >= 0 && dims[i] < x.rank() && (i == 0 || dims[i] > dims[i - 1]),
            "reduction of {} over dims {}, expected ascending dims below its rank", to_string(x), to_string(dims));
  }
  TensorType result{x.dtype, {}};
  for (int64_t d : kept_dims(call)) result.dims.push_back(x.dims[d]);
  return {result};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const ReduceAttributes& a = of(c.call);
  const DType dtype = c.results[0].dtype;
  const stablehlo::Ssa start = c.writer.splat({dtype, {}}, neutral_of(a.reduction, dtype));
  return c.writer.op("stablehlo.reduce", {c.operands[0], start}, c.results,
                     {{"dimensions", stablehlo::i64_array(a.dims)}}, {reduction_region(a.reduction, dtype)});
}

Cotangents vjp(const VjpContext& c) {
  const Value x = c.operands[0];
  const Dims kept = kept_dims(c.call);
  const Value g = broadcast(*c.cotangents[0], x.dims(), kept);
  if (of(c.call).reduction == Reduction::Sum) return {g};
  // Max and min: shared equally by all elements that attain it.
  const Value attained = convert(equal(x, broadcast(c.results[0], x.dims(), kept)), x.dtype());
  const Value count = broadcast(reduce_sum(attained, of(c.call).dims), x.dims(), kept);
  return {multiply(g, divide(attained, count))};
}

Factors factors(const OpCall& call) {
  const bool sum = of(call).reduction == Reduction::Sum;
  Factors f = elementwise_factors(call.operands[0].dims, 1, sum ? Linearity::Joint : Linearity::No);
  TensorFactors kept;
  for (int64_t d : kept_dims(call)) kept.push_back(f.operands[0][d]);
  for (int64_t d : of(call).dims) {
    f.factors[d].kind = FactorKind::Reduced;
    f.factors[d].reduction = of(call).reduction;
  }
  f.results = {kept};
  return f;
}

std::vector<Sample> samples() {
  auto sample = [](std::string name, Reduction reduction, Dims dims) {
    return plain_sample(std::move(name), {sample_tensor({4, 8, 3}, 1)}, ReduceAttributes{reduction, std::move(dims)});
  };
  return {sample("sum", Reduction::Sum, {0, 2}), sample("max", Reduction::Max, {1}), sample("min", Reduction::Min, {0}),
          sample("sum of all", Reduction::Sum, {0, 1, 2})};
}

}  // namespace

const OpRecord reduce_op = {
    .name = "reduce",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value reduce(Value x, Reduction reduction, Dims dims) {
  if (dims.empty()) return x;
  return x.graph->append(reduce_op, ReduceAttributes{reduction, std::move(dims)}, {x})[0];
}

}  // namespace tethys
