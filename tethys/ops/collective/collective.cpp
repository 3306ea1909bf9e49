#include "ops/collective/collective.h"

#include <fmt/ranges.h>

#include "ops/reduce/reduce.h"
#include "ops/registry.h"

namespace tethys {

std::string describe(const CollectiveAttributes& a) {
  return fmt::format("axes {} dim {} {}{}", to_string(a.axes), a.dim, name_of(a.reduction),
                     a.of_parameter ? " of a parameter" : "");
}

const CollectiveAttributes& collective_attributes(const Attributes& a) { return a.as<CollectiveAttributes>(); }

namespace {

using stablehlo::Attribute;
using stablehlo::Spmd;
using stablehlo::Ssa;

const CollectiveAttributes& of(const OpCall& call) { return collective_attributes(call.attributes); }

std::vector<TensorType> infer_same(const OpCall& call) { return {call.operands[0]}; }

// The dimension grows `up` times or shrinks `down` times.
TensorType scaled(TensorType type, int64_t dim, int64_t up, int64_t down) {
  require(dim >= 0 && dim < type.rank(), "no dimension {} in {}", dim, to_string(type));
  require(type.dims[dim] % down == 0, "dimension {} of {} does not divide by the {} devices of the group", dim,
          to_string(type), down);
  type.dims[dim] = type.dims[dim] / down * up;
  return type;
}

std::vector<TensorType> infer_gather(const OpCall& call) {
  return {scaled(call.operands[0], of(call).dim, of(call).group_size, 1)};
}

std::vector<TensorType> infer_scatter(const OpCall& call) {
  return {scaled(call.operands[0], of(call).dim, 1, of(call).group_size)};
}

std::vector<TensorType> infer_all_to_all(const OpCall& call) {
  const auto& a = of(call);
  return {scaled(scaled(call.operands[0], a.dim, 1, a.group_size), a.concat_dim, a.group_size, 1)};
}

// What every collective says of its groups. As partitions of one program, ids are global device ids and a channel ties
// the participants together; as replicas there is neither.
std::vector<Attribute> group_attributes(EmitContext& c, bool global_ids) {
  std::vector<Attribute> attributes = {{"replica_groups", stablehlo::i64_matrix(c.mesh.groups(of(c.call).axes))}};
  if (c.spmd == Spmd::Replicas) return attributes;
  attributes.push_back(
      {"channel_handle", fmt::format("#stablehlo.channel_handle<handle = {}, type = 1>", c.writer.next_channel())});
  if (global_ids) attributes.push_back({"use_global_device_ids", "unit"});
  return attributes;
}

std::vector<Ssa> emit_all_reduce(EmitContext& c) {
  return c.writer.op("stablehlo.all_reduce", c.operands, c.results, group_attributes(c, true),
                     {reduction_region(of(c.call).reduction, c.results[0].dtype)});
}

std::vector<Ssa> emit_all_gather(EmitContext& c) {
  std::vector<Attribute> attributes = group_attributes(c, true);
  attributes.push_back({"all_gather_dim", stablehlo::i64_attribute(of(c.call).dim)});
  return c.writer.op("stablehlo.all_gather", c.operands, c.results, attributes);
}

std::vector<Ssa> emit_reduce_scatter(EmitContext& c) {
  std::vector<Attribute> attributes = group_attributes(c, true);
  attributes.push_back({"scatter_dimension", stablehlo::i64_attribute(of(c.call).dim)});
  return c.writer.op("stablehlo.reduce_scatter", c.operands, c.results, attributes,
                     {reduction_region(of(c.call).reduction, c.results[0].dtype)});
}

std::vector<Ssa> emit_all_to_all(EmitContext& c) {
  const auto& a = of(c.call);
  std::vector<Attribute> attributes = group_attributes(c, false);
  attributes.push_back({"split_dimension", stablehlo::i64_attribute(a.dim)});
  attributes.push_back({"concat_dimension", stablehlo::i64_attribute(a.concat_dim)});
  attributes.push_back({"split_count", stablehlo::i64_attribute(a.group_size)});
  return c.writer.op("stablehlo.all_to_all", c.operands, c.results, attributes);
}

std::vector<Ssa> emit_permute(EmitContext& c) {
  const auto& a = of(c.call);
  std::vector<std::vector<int64_t>> pairs;
  for (const auto& group : c.mesh.groups(a.axes)) {
    const auto n = static_cast<int64_t>(group.size());
    for (int64_t from = 0; from < n; ++from) {
      const int64_t to = from + a.shift;
      if (a.wrap || (to >= 0 && to < n)) pairs.push_back({group[from], group[((to % n) + n) % n]});
    }
  }
  std::vector<Attribute> attributes = {{"source_target_pairs", stablehlo::i64_matrix(pairs)}};
  if (c.spmd == Spmd::Partitions) {
    attributes.push_back(
        {"channel_handle", fmt::format("#stablehlo.channel_handle<handle = {}, type = 1>", c.writer.next_channel())});
  }
  return c.writer.op("stablehlo.collective_permute", c.operands, c.results, attributes);
}

std::vector<TensorType> infer_index(const OpCall&) { return {{DType::S32, {}}}; }

std::vector<Ssa> emit_index(EmitContext& c) {
  const int64_t axis = of(c.call).axes[0];
  const TensorType u32{DType::U32, {}};
  int64_t stride = 1;
  for (int64_t a = axis + 1; a < c.mesh.rank(); ++a) stride *= c.mesh.axes()[a].size;
  auto number = [&](int64_t value) { return c.writer.splat(u32, static_cast<double>(value)); };
  const char* id_op = c.spmd == Spmd::Partitions ? "stablehlo.partition_id" : "stablehlo.replica_id";
  const Ssa id = c.writer.op1(id_op, {}, u32);
  const Ssa major = c.writer.op1("stablehlo.divide", {id, number(stride)}, u32);
  const Ssa index = c.writer.op1("stablehlo.remainder", {major, number(c.mesh.axes()[axis].size)}, u32);
  return c.writer.op("stablehlo.convert", {index}, c.results);
}

Value append(Value x, const OpRecord& op, CollectiveAttributes attributes) {
  return x.graph->append(op, std::move(attributes), {x})[0];
}

}  // namespace

const OpRecord all_reduce_op = {.name = "all_reduce", .infer = infer_same, .emit = emit_all_reduce, .collective = true};
const OpRecord all_gather_op = {
    .name = "all_gather", .infer = infer_gather, .emit = emit_all_gather, .collective = true};
const OpRecord reduce_scatter_op = {
    .name = "reduce_scatter", .infer = infer_scatter, .emit = emit_reduce_scatter, .collective = true};
const OpRecord all_to_all_op = {
    .name = "all_to_all", .infer = infer_all_to_all, .emit = emit_all_to_all, .collective = true};
const OpRecord collective_permute_op = {
    .name = "collective_permute", .infer = infer_same, .emit = emit_permute, .collective = true};
const OpRecord axis_index_op = {.name = "axis_index", .infer = infer_index, .emit = emit_index};

Value all_reduce(Value x, const Mesh& mesh, Dims axes, Reduction reduction) {
  const int64_t size = mesh.size_over(axes);
  return append(x, all_reduce_op, {.axes = std::move(axes), .group_size = size, .reduction = reduction});
}

Value all_gather(Value x, const Mesh& mesh, Dims axes, int64_t dim, bool of_parameter) {
  const int64_t size = mesh.size_over(axes);
  return append(x, all_gather_op,
                {.axes = std::move(axes), .group_size = size, .dim = dim, .of_parameter = of_parameter});
}

Value reduce_scatter(Value x, const Mesh& mesh, Dims axes, int64_t dim, Reduction reduction) {
  const int64_t size = mesh.size_over(axes);
  return append(x, reduce_scatter_op,
                {.axes = std::move(axes), .group_size = size, .dim = dim, .reduction = reduction});
}

Value all_to_all(Value x, const Mesh& mesh, Dims axes, int64_t split_dim, int64_t concat_dim) {
  const int64_t size = mesh.size_over(axes);
  return append(x, all_to_all_op,
                {.axes = std::move(axes), .group_size = size, .dim = split_dim, .concat_dim = concat_dim});
}

Value collective_permute(Value x, const Mesh& mesh, int64_t axis, int64_t shift, bool wrap) {
  return append(x, collective_permute_op,
                {.axes = {axis}, .group_size = mesh.size_over({axis}), .shift = shift, .wrap = wrap});
}

Value axis_index(Graph& graph, const Mesh& mesh, int64_t axis) {
  return graph.append(axis_index_op, CollectiveAttributes{.axes = {axis}, .group_size = mesh.size_over({axis})}, {})[0];
}

}  // namespace tethys
