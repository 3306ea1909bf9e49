#include "ops/dot/dot.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "ops/control/redistribute.h"
#include "ops/elementwise/convert.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tethys {

struct DotAttributes {
  DotDims dims;
  DType result;
  bool operator==(const DotAttributes&) const = default;
};
static std::string describe(const DotAttributes& a) {
  return fmt::format("batch {}x{} contract {}x{}", to_string(a.dims.lhs_batch), to_string(a.dims.rhs_batch),
                     to_string(a.dims.lhs_contract), to_string(a.dims.rhs_contract));
}

namespace {

const DotAttributes& of(const OpCall& call) { return call.attributes.as<DotAttributes>(); }

bool contains(const Dims& dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

// The dimensions that are neither batch nor contracted, ascending.
Dims free_dims(int64_t rank, const Dims& batch, const Dims& contract) {
  Dims free;
  for (int64_t d = 0; d < rank; ++d) {
    if (!contains(batch, d) && !contains(contract, d)) free.push_back(d);
  }
  return free;
}

void check_pairs(const char* what, const TensorType& lhs, const TensorType& rhs, const Dims& l, const Dims& r) {
  require(l.size() == r.size(), "{} {} {} dimensions against {}", l.size(), "lhs", what, r.size());
  for (size_t i = 0; i < l.size(); ++i) {
    require(l[i] < lhs.rank() && r[i] < rhs.rank(), "no {} dimension {} in lhs {} or {} in rhs {}", what, l[i],
            to_string(lhs), r[i], to_string(rhs));
    require(lhs.dims[l[i]] == rhs.dims[r[i]], "{} sizes differ: lhs {} dim {} = {}, rhs {} dim {} = {}", what,
            to_string(lhs), l[i], lhs.dims[l[i]], to_string(rhs), r[i], rhs.dims[r[i]]);
  }
}

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& lhs = call.operands[0];
  const TensorType& rhs = call.operands[1];
  const DotDims& d = of(call).dims;
  require(lhs.dtype == rhs.dtype, "dtypes differ: lhs {}, rhs {}", to_string(lhs), to_string(rhs));
  check_pairs("batch", lhs, rhs, d.lhs_batch, d.rhs_batch);
  check_pairs("contracting", lhs, rhs, d.lhs_contract, d.rhs_contract);
  TensorType result{of(call).result, {}};
  for (int64_t i : d.lhs_batch) result.dims.push_back(lhs.dims[i]);
  for (int64_t i : free_dims(lhs.rank(), d.lhs_batch, d.lhs_contract)) result.dims.push_back(lhs.dims[i]);
  for (int64_t i : free_dims(rhs.rank(), d.rhs_batch, d.rhs_contract)) result.dims.push_back(rhs.dims[i]);
  return {result};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const DotDims& d = of(c.call).dims;
  const std::string numbers = fmt::format(
      "#stablehlo.dot<lhs_batching_dimensions = {}, rhs_batching_dimensions = {}, "
      "lhs_contracting_dimensions = {}, rhs_contracting_dimensions = {}>",
      d.lhs_batch, d.rhs_batch, d.lhs_contract, d.rhs_contract);
  return c.writer.op("stablehlo.dot_general", c.operands, c.results, {{"dot_dimension_numbers", numbers}});
}

// The cotangent of one operand: the result's cotangent times the other operand, contracted over the other's free
// dimensions, then put into this operand's dimension order.
Value operand_cotangent(const VjpContext& c, bool left) {
  const DotDims& d = of(c.call).dims;
  const Value self = c.operands[left ? 0 : 1];
  const Value other = c.operands[left ? 1 : 0];
  const Dims& batch = left ? d.lhs_batch : d.rhs_batch;
  const Dims& contract = left ? d.lhs_contract : d.rhs_contract;
  const Dims& other_batch = left ? d.rhs_batch : d.lhs_batch;
  const Dims& other_contract = left ? d.rhs_contract : d.lhs_contract;
  const Dims free = free_dims(self.rank(), batch, contract);
  const Dims other_free = free_dims(other.rank(), other_batch, other_contract);
  const auto batch_count = static_cast<int64_t>(batch.size());
  const int64_t other_start = batch_count + (left ? static_cast<int64_t>(free.size()) : 0);
  const int64_t other_end = other_start + static_cast<int64_t>(other_free.size());

  const Value g = convert(*c.cotangents[0], self.dtype());
  const DotDims dims{dim_range(0, batch_count), other_batch, dim_range(other_start, other_end), other_free};
  const Value raw = dot(g, other, dims, gradient_dtype(self));
  // raw has: batch, this operand's free dimensions, then its contracted ones in the order the other holds them.
  Dims position(self.rank());
  for (size_t i = 0; i < batch.size(); ++i) position[batch[i]] = static_cast<int64_t>(i);
  for (size_t i = 0; i < free.size(); ++i) position[free[i]] = batch_count + static_cast<int64_t>(i);
  Dims sorted = other_contract;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < contract.size(); ++i) {
    const auto place = std::find(sorted.begin(), sorted.end(), other_contract[i]) - sorted.begin();
    position[contract[i]] = batch_count + static_cast<int64_t>(free.size()) + place;
  }
  return transpose(raw, position);
}

Cotangents vjp(const VjpContext& c) {
  Cotangents result(2);
  if (c.wanted[0]) result[0] = operand_cotangent(c, true);
  if (c.wanted[1]) result[1] = operand_cotangent(c, false);
  return result;
}

Factors factors(const OpCall& call) {
  const TensorType& lhs = call.operands[0];
  const TensorType& rhs = call.operands[1];
  const DotDims& d = of(call).dims;
  Factors f = elementwise_factors(lhs.dims, 1, Linearity::Single);
  TensorFactors right(rhs.dims.size());
  TensorFactors result;
  for (size_t i = 0; i < d.lhs_batch.size(); ++i) {
    right[d.rhs_batch[i]] = f.operands[0][d.lhs_batch[i]];
    result.push_back(right[d.rhs_batch[i]]);
  }
  for (size_t i = 0; i < d.lhs_contract.size(); ++i) {
    right[d.rhs_contract[i]] = f.operands[0][d.lhs_contract[i]];
    f.factors[d.lhs_contract[i]].kind = FactorKind::Reduced;
  }
  for (int64_t i : free_dims(lhs.rank(), d.lhs_batch, d.lhs_contract)) result.push_back(f.operands[0][i]);
  for (int64_t i : free_dims(rhs.rank(), d.rhs_batch, d.rhs_contract)) {
    right[i] = {static_cast<int>(f.factors.size())};
    f.factors.push_back({FactorKind::Pass, rhs.dims[i], Reduction::Sum});
    result.push_back(right[i]);
  }
  f.operands.push_back(right);
  f.results = {result};
  return f;
}

std::vector<Sample> samples() {
  auto sample = [](std::string name, Dims lhs, Dims rhs, DotDims dims) {
    return plain_sample(std::move(name), {sample_tensor(std::move(lhs), 1), sample_tensor(std::move(rhs), 2)},
                        DotAttributes{std::move(dims), DType::F64});
  };
  return {sample("linear", {4, 2, 8}, {12, 8}, {{}, {}, {2}, {1}}),
          sample("batched", {4, 3, 8}, {8, 4, 5}, {{0}, {1}, {2}, {0}}),
          sample("two contractions", {4, 8, 3}, {3, 8, 12}, {{}, {}, {1, 2}, {1, 0}})};
}

}  // namespace

const OpRecord dot_op = {
    .name = "dot",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value dot(Value lhs, Value rhs, DotDims dims, std::optional<DType> result) {
  return lhs.graph->append(dot_op, DotAttributes{std::move(dims), result.value_or(lhs.dtype())}, {lhs, rhs})[0];
}

DType gradient_dtype(Value value) {
  const Node& node = value.graph->producer(value.id);
  return node.op == &redistribute_op ? redistribute_attributes(node.attributes).backward_dtype.value_or(value.dtype())
                                     : value.dtype();
}

}  // namespace tethys
