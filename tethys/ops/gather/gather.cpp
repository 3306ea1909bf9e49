#include "ops/gather/gather.h"

#include <fmt/ranges.h>

#include "ops/dot/dot.h"
#include "ops/elementwise/convert.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/samples.h"

namespace tethys {
namespace {

void check_indices(const TensorType& indices) {
  require(indices.dtype == DType::S32, "indices are {}, expected s32", to_string(indices));
}

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& table = call.operands[0];
  const TensorType& indices = call.operands[1];
  check_indices(indices);
  require(table.rank() >= 1, "a table of rank 0");
  TensorType result{table.dtype, indices.dims};
  result.dims.insert(result.dims.end(), table.dims.begin() + 1, table.dims.end());
  return {result};
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const int64_t index_rank = c.operands[1].type.rank();
  const std::string numbers = fmt::format(
      "#stablehlo.gather<offset_dims = {}, collapsed_slice_dims = [0], start_index_map = [0], "
      "index_vector_dim = {}>",
      dim_range(index_rank, c.results[0].rank()), index_rank);
  Dims sizes = c.operands[0].type.dims;
  sizes[0] = 1;
  return c.writer.op(
      "stablehlo.gather", c.operands, c.results,
      {{"dimension_numbers", numbers}, {"slice_sizes", stablehlo::i64_array(sizes)}, {"indices_are_sorted", "false"}});
}

// Many rows may be added into one: in the dtype that the table's gradient is wanted in.
Cotangents vjp(const VjpContext& c) {
  const Value g = convert(*c.cotangents[0], gradient_dtype(c.operands[0]));
  return {scatter_add(c.operands[1], g, c.operands[0].dims()[0]), std::nullopt};
}

// The table's rows must be whole; indices and row elements pass.
Factors factors(const OpCall& call) {
  const TensorType& table = call.operands[0];
  Factors f = elementwise_factors(table.dims, 1, Linearity::Joint);
  f.factors[0].kind = FactorKind::Replicate;
  TensorFactors index;
  for (int64_t d : call.operands[1].dims) {
    index.push_back({static_cast<int>(f.factors.size())});
    f.factors.push_back({FactorKind::Pass, d, Reduction::Sum});
  }
  TensorFactors result = index;
  result.insert(result.end(), f.operands[0].begin() + 1, f.operands[0].end());
  f.operands.push_back(index);
  f.results = {result};
  f.linear_operands = {true, false};
  return f;
}

std::vector<Sample> samples() {
  return {plain_sample("rows", {sample_tensor({5, 8}, 1), sample_tensor({4, 3}, 2, 0, 5, DType::S32)})};
}

std::vector<TensorType> infer_scatter(const OpCall& call) {
  const TensorType& indices = call.operands[0];
  const TensorType& updates = call.operands[1];
  check_indices(indices);
  require(call.declared.size() == 1 && call.declared[0].rank() >= 1, "scatter_add needs the declared result type");
  Dims expected = indices.dims;
  expected.insert(expected.end(), call.declared[0].dims.begin() + 1, call.declared[0].dims.end());
  require(updates.dims == expected, "updates {} for indices {} and rows of {}", to_string(updates), to_string(indices),
          to_string(call.declared[0]));
  return {{updates.dtype, call.declared[0].dims}};
}

std::vector<stablehlo::Ssa> emit_scatter(EmitContext& c) {
  const TensorType& type = c.results[0];
  const int64_t index_rank = c.operands[0].type.rank();
  const std::string numbers = fmt::format(
      "#stablehlo.scatter<update_window_dims = {}, inserted_window_dims = [0], "
      "scatter_dims_to_operand_dims = [0], index_vector_dim = {}>",
      dim_range(index_rank, c.operands[1].type.rank()), index_rank);
  const stablehlo::Ssa zeros = c.writer.splat(type, 0);
  return c.writer.op(
      "stablehlo.scatter", {zeros, c.operands[0], c.operands[1]}, {type},
      {{"scatter_dimension_numbers", numbers}, {"indices_are_sorted", "false"}, {"unique_indices", "false"}},
      {reduction_region(Reduction::Sum, type.dtype)});
}

Cotangents vjp_scatter(const VjpContext& c) { return {std::nullopt, gather(*c.cotangents[0], c.operands[0])}; }

// Sharded indices scatter into every row: the result is a sum of parts.
Factors factors_scatter(const OpCall& call) {
  const int64_t index_rank = call.operands[0].rank();
  Factors f = elementwise_factors(call.operands[1].dims, 1, Linearity::Joint);
  const TensorFactors updates = f.operands[0];
  const TensorFactors index(updates.begin(), updates.begin() + index_rank);
  for (int64_t d = 0; d < index_rank; ++d) f.factors[d].kind = FactorKind::Reduced;
  TensorFactors result = {{static_cast<int>(f.factors.size())}};
  f.factors.push_back({FactorKind::Replicate, call.declared[0].dims[0], Reduction::Sum});
  result.insert(result.end(), updates.begin() + index_rank, updates.end());
  f.operands = {index, updates};
  f.results = {result};
  f.linear_operands = {false, true};
  return f;
}

std::vector<Sample> samples_scatter() {
  return {{.name = "rows",
           .operands = {sample_tensor({4, 3}, 2, 0, 5, DType::S32), sample_tensor({4, 3, 8}, 1)},
           .attributes = {},
           .declared = {{DType::F64, {5, 8}}},
           .regions = {}}};
}

}  // namespace

const OpRecord gather_op = {
    .name = "gather",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

const OpRecord scatter_add_op = {
    .name = "scatter_add",
    .infer = infer_scatter,
    .emit = emit_scatter,
    .gradient = Gradient::Rule,
    .vjp = vjp_scatter,
    .factors = factors_scatter,
    .samples = samples_scatter,
};

Value gather(Value table, Value indices) { return table.graph->append(gather_op, {}, {table, indices})[0]; }

Value scatter_add(Value indices, Value updates, int64_t rows) {
  Dims dims = updates.dims();
  dims.erase(dims.begin(), dims.begin() + indices.rank());
  dims.insert(dims.begin(), rows);
  return updates.graph->append(scatter_add_op, {}, {indices, updates}, {}, {{updates.dtype(), std::move(dims)}})[0];
}

}  // namespace tethys
