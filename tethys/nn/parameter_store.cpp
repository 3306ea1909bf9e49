#include "nn/parameter_store.h"

#include <algorithm>

namespace tethys {
namespace {

// The placement while computing: whole but for the plan's dimensions.
Placement compute_placement(const Parameter& parameter, const Plan& plan, const Mesh& mesh) {
  const ParameterRow row = planned(plan, parameter.name());
  Placement placement = replicated(mesh);
  for (const int64_t axis : mesh.find_all("tp")) placement[axis] = row.placement;
  for (int64_t axis = 0; axis < mesh.rank() && row.over_experts; ++axis) {
    if (mesh.is_for_experts(axis)) placement[axis] = *row.over_experts;
  }
  if (!row.placement.is_shard() || row.padded) return placement;
  const int64_t ranks = shard_count(placement, mesh, row.placement.dim);
  const int64_t size = parameter.dims().at(row.placement.dim);
  if (size % ranks != 0) {
    user_error(
        "{} {}: dimension {} of size {} does not divide over parallelism.tensor_parallel_degree = {}; a degree that "
        "divides {} would work",
        parameter.name(), to_string(parameter.dims()), row.placement.dim, size, ranks, size);
  }
  return placement;
}

// The dimension that data and context parallelism cut into `ranks` parts: the first that the plan leaves whole and that
// has a part for each rank (few experts are not padded to many ranks), or the first of all.
int64_t dimension_for_shards(const Parameter& parameter, const Placement& compute, int64_t ranks) {
  std::vector<int64_t> whole;
  for (int64_t d = 0; d < static_cast<int64_t>(parameter.dims().size()); ++d) {
    if (std::find(compute.begin(), compute.end(), shard(d)) == compute.end()) whole.push_back(d);
  }
  const auto long_enough =
      std::find_if(whole.begin(), whole.end(), [&](int64_t d) { return parameter.dims()[d] >= ranks; });
  if (long_enough != whole.end()) return *long_enough;
  return whole.empty() ? 0 : whole[0];
}

Placement storage_placement(const Parameter& parameter, const Placement& compute, const Mesh& mesh) {
  Placement placement = compute;
  if (!parameter.trained()) return placement;
  std::vector<int64_t> axes;
  int64_t ranks = 1;
  for (const char* name : {"dp_shard", "cp"}) {
    for (const int64_t axis : mesh.find_all(name)) {
      if (!placement[axis].is_replicate()) continue;
      axes.push_back(axis);
      ranks *= mesh.axes()[axis].size;
    }
  }
  const int64_t dim = dimension_for_shards(parameter, compute, ranks);
  for (const int64_t axis : axes) placement[axis] = shard(dim);
  return placement;
}

void parametrize(Parameter& parameter, const Plan& plan, const StoreOptions& options) {
  Parametrization p;
  p.compute = compute_placement(parameter, plan, options.mesh);
  p.storage = storage_placement(parameter, p.compute, options.mesh);
  p.compute_dims = padded_dims(parameter.dims(), p.compute, options.mesh);
  p.storage_dims = padded_dims(p.compute_dims, p.storage, options.mesh);
  p.storage_dtype = parameter.trained() ? options.storage_dtype : wide(options.storage_dtype);
  p.compute_dtype = options.compute_dtype;
  p.gradient_dtype = options.gradient_dtype;
  p.keep = !options.reshard_after_forward;
  p.unreduced = options.unreduced_gradients;
  parameter.set_parametrization(std::move(p));
}

StoredParameter stored_alone(const Parameter& parameter) {
  return {parameter.name(), {&parameter}, false, parameter.stored_type(), parameter.parametrization().storage};
}

// Parameter `index` of every block, as one array.
StoredParameter stored_stack(const std::vector<Module*>& blocks, size_t index) {
  StoredParameter stack;
  for (Module* block : blocks) stack.members.push_back(block->parameters().at(index));
  const Parameter& first = *stack.members[0];
  const std::string& block = blocks[0]->name();
  stack.name = block.substr(0, block.rfind('.')) + ".*" + first.name().substr(block.size());
  stack.stacked = true;
  for (const Parameter* member : stack.members) {
    require(member->stored_type() == first.stored_type(), "{} and {} differ in shape and cannot be stacked",
            first.name(), member->name());
  }
  stack.type = first.stored_type();
  stack.type.dims.insert(stack.type.dims.begin(), static_cast<int64_t>(blocks.size()));
  stack.placement = first.parametrization().storage;
  for (AxisPlacement& axis : stack.placement) {
    if (axis.is_shard()) ++axis.dim;
  }
  return stack;
}

}  // namespace

std::vector<StoredParameter> make_store(LanguageModel& model, const Plan& plan, const StoreOptions& options) {
  constrain_modules(model, plan, options.mesh);
  model.for_each_parameter([&](Parameter& parameter) { parametrize(parameter, plan, options); });
  const std::vector<Module*> blocks = options.stack_layers ? model.blocks() : std::vector<Module*>{};
  std::vector<const Parameter*> in_blocks;  // all of them, those of the first block in front
  for (Module* block : blocks) {
    for (Parameter* parameter : block->parameters()) in_blocks.push_back(parameter);
  }
  std::vector<StoredParameter> store;
  model.for_each_parameter([&](Parameter& parameter) {
    const auto found = std::find(in_blocks.begin(), in_blocks.end(), &parameter);
    if (found == in_blocks.end()) {
      store.push_back(stored_alone(parameter));
    } else if (const auto index = static_cast<size_t>(found - in_blocks.begin());
               index < blocks[0]->parameters().size()) {
      store.push_back(stored_stack(blocks, index));
    }
  });
  return store;
}

void bind_store(Graph& graph, const std::vector<StoredParameter>& store, const std::vector<Value>& values) {
  require(values.size() == store.size(), "{} values for {} stored parameters", values.size(), store.size());
  for (size_t i = 0; i < store.size(); ++i) {
    require(values[i].type() == store[i].type, "{} is stored as {}, the value is {}", store[i].name,
            to_string(store[i].type), to_string(values[i].type()));
    graph.bind(store[i].key(), values[i]);
  }
}

std::string to_string(const std::vector<StoredParameter>& store) {
  std::string text;
  for (const StoredParameter& p : store) {
    text += fmt::format("{}: {} {}\n", p.name, to_string(p.type), to_string(p.placement));
  }
  return text;
}

}  // namespace tethys
