#include "ops/gather/gather.h"

#include <fmt/ranges.h>

#include <numeric>

#include "ops/collective/part.h"
#include "ops/dot/dot.h"
#include "ops/elementwise/convert.h"
#include "ops/elementwise/select.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "ops/tensor.h"

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
  return {scatter_add_like(c.operands[1], g, c.operands[0]), std::nullopt};
}

// The first row that this device holds.
Value first_row(const LocalContext& c, const Layout& table, const TensorType& indices) {
  return broadcast(part_start(c.graph, table, 0, c.mesh), indices.dims, {});
}

std::vector<Value> local(const LocalContext& c) {
  const Layout& table = c.operand_layouts[0];
  if (cutting_axes(table.placement, 0, c.mesh).empty()) return {};
  const Tensor indices = c.operands[1];
  const Tensor whole =
      minimum(maximum(indices, full_like(indices, 0)), full_like(indices, static_cast<double>(table.type.dims[0] - 1)));
  const Tensor own = whole - Tensor(first_row(c, table, indices.value().type()));
  const Tensor is_own = (own >= 0) & (own < static_cast<double>(c.operands[0].dims()[0]));
  const Value rows = gather(c.operands[0], own.value());
  Dims of_rows(static_cast<size_t>(indices.rank()));
  std::iota(of_rows.begin(), of_rows.end(), 0);
  const Value kept = broadcast(is_own.value(), rows.dims(), of_rows);
  return {select(kept, rows, splat(c.graph, rows.type(), 0))};
}

// Indices and row elements pass; sharded rows leave a sum.
Factors factors(const OpCall& call) {
  const TensorType& table = call.operands[0];
  Factors f = elementwise_factors(table.dims, 1, Linearity::Joint);
  f.factors[0].kind = FactorKind::Reduced;
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
  return {
      plain_sample("rows", {sample_tensor({5, 8}, 1), sample_tensor({4, 3}, 2, 0, 5, DType::S32)}),
      plain_sample("rows that may be sharded", {sample_tensor({8, 4}, 1), sample_tensor({4}, 2, 0, 8, DType::S32)})};
}

std::vector<TensorType> infer_scatter(const OpCall& call) {
  const TensorType& indices = call.operands[0];
  const TensorType& updates = call.operands[1];
  check_indices(indices);
  const bool has_like = call.operands.size() == 3;
  require(has_like || call.declared.size() == 1, "scatter_add needs the declared result type");
  const TensorType& rows = has_like ? call.operands[2] : call.declared[0];
  require(rows.rank() >= 1, "scatter_add into {}", to_string(rows));
  Dims expected = indices.dims;
  expected.insert(expected.end(), rows.dims.begin() + 1, rows.dims.end());
  require(updates.dims == expected, "updates {} for indices {} and rows of {}", to_string(updates), to_string(indices),
          to_string(rows));
  return {{updates.dtype, rows.dims}};
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

Cotangents vjp_scatter(const VjpContext& c) {
  Cotangents result(c.operands.size());
  result[1] = gather(*c.cotangents[0], c.operands[0]);
  return result;
}

// `like` has served, and this device's rows begin at 0.
std::vector<Value> local_scatter(const LocalContext& c) {
  if (c.operands.size() < 3) return {};
  const Value indices = c.operands[0];
  const Value own = subtract(indices, first_row(c, c.result_layouts[0], indices.type()));
  return {scatter_add(own, c.operands[1], c.operands[2].dims()[0])};
}

// Sharded indices scatter into every row: the result is a sum of parts.
Factors factors_scatter(const OpCall& call) {
  const int64_t index_rank = call.operands[0].rank();
  const bool has_like = call.operands.size() == 3;
  Factors f = elementwise_factors(call.operands[1].dims, 1, Linearity::Joint);
  const TensorFactors updates = f.operands[0];
  const TensorFactors index(updates.begin(), updates.begin() + index_rank);
  for (int64_t d = 0; d < index_rank; ++d) f.factors[d].kind = FactorKind::Reduced;
  TensorFactors result = {{static_cast<int>(f.factors.size())}};
  const FactorKind rows = has_like ? FactorKind::Pass : FactorKind::Replicate;
  f.factors.push_back({rows, has_like ? call.operands[2].dims[0] : call.declared[0].dims[0]});
  result.insert(result.end(), updates.begin() + index_rank, updates.end());
  f.operands = {index, updates};
  f.results = {result};
  f.linear_operands = {false, true};
  if (!has_like) return f;
  f.operands.push_back(result);
  f.linear_operands.push_back(false);
  return f;
}

std::vector<Sample> samples_scatter() {
  return {plain_sample("rows", {sample_tensor({4, 3}, 2, 0, 5, DType::S32), sample_tensor({4, 3, 8}, 1)}, {},
                       {{DType::F64, {5, 8}}}),
          plain_sample("like a table", {sample_tensor({4, 3}, 2, 0, 8, DType::S32), sample_tensor({4, 3, 2}, 1),
                                        sample_tensor({8, 2}, 3, 0, 1, DType::S32)})};
}

}  // namespace

const OpRecord gather_op = {
    .name = "gather",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .local = local,
    .samples = samples,
};

const OpRecord scatter_add_op = {
    .name = "scatter_add",
    .infer = infer_scatter,
    .emit = emit_scatter,
    .gradient = Gradient::Rule,
    .vjp = vjp_scatter,
    .factors = factors_scatter,
    .local = local_scatter,
    .samples = samples_scatter,
};

Value gather(Value table, Value indices) { return table.graph->append(gather_op, {}, {table, indices})[0]; }

Value scatter_add(Value indices, Value updates, int64_t rows) {
  Dims dims = updates.dims();
  dims.erase(dims.begin(), dims.begin() + indices.rank());
  dims.insert(dims.begin(), rows);
  return updates.graph->append(scatter_add_op, {}, {indices, updates}, {}, {{updates.dtype(), std::move(dims)}})[0];
}

Value scatter_add_like(Value indices, Value updates, Value like) {
  return updates.graph->append(scatter_add_op, {}, {indices, updates, like})[0];
}

}  // namespace tethys
