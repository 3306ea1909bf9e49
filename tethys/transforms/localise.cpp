#include "transforms/localise.h"

#include "ir/clone.h"
#include "ops/collective/part.h"
#include "ops/control/barrier.h"
#include "ops/control/redistribute.h"
#include "ops/elementwise/convert.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "transforms/dead_code.h"
#include "transforms/redistribute.h"

namespace tethys {
namespace {

class Localisation {
 public:
  Localisation(const Graph& placed, const Mesh& mesh) : placed_(placed), mesh_(mesh), map_(placed.value_count()) {}

  std::shared_ptr<Graph> run() {
    for (size_t i = 0; i < placed_.inputs().size(); ++i) {
      const ValueId id = placed_.inputs()[i];
      map_[id] = local_->input(local(id), placed_.input_name(i), placement(id));
    }
    for (NodeId n = 0; n < placed_.node_count(); ++n) {
      const Node& node = placed_.node(n);
      if (node.op == &input_op) continue;
      local_->set_scope(node.scope);
      if (node.op == &redistribute_op)
        map_[node.results[0]] =
            redistribute_local(map_[node.operands[0]], layout(node.operands[0]), layout(node.results[0]), mesh_,
                               is_parametrization(redistribute_attributes(node.attributes)));
      else if (node.op->generator)
        map_[node.results[0]] = generate(node);
      else
        append(n);
    }
    local_->set_scope("");
    set_outputs();
    return local_;
  }

 private:
  const Placement& placement(ValueId id) const {
    const auto& p = placed_.info(id).placement;
    require(p.has_value(), "value %{} of {} has no placement", id, placed_.producer(id).op->name);
    return *p;
  }
  Layout layout(ValueId id) const { return {placed_.type(id), placement(id)}; }
  TensorType local(ValueId id) const { return local_type(placed_.type(id), placement(id), mesh_); }

  void append(NodeId n) {
    const Node& node = placed_.node(n);
    std::vector<Value> operands;
    for (ValueId v : node.operands) operands.push_back(map_[v]);
    std::vector<TensorType> declared;
    for (ValueId v : node.results) declared.push_back(local(v));
    Regions regions;
    for (const auto& region : node.regions) regions.push_back(Localisation(*region, mesh_).run());
    std::vector<Value> results = own_form(n, operands);
    if (results.empty()) results = local_->append(*node.op, node.attributes, operands, std::move(regions), declared);
    for (size_t i = 0; i < results.size(); ++i) {
      require(results[i].type() == declared[i], "{}: the parts of {} at {} are {}, the op gives {}", node.op->name,
              to_string(placed_.type(node.results[i])), to_string(placement(node.results[i])), to_string(declared[i]),
              to_string(results[i].type()));
      map_[node.results[i]] = results[i];
      const std::string& tag = placed_.info(node.results[i]).tag;
      if (!tag.empty()) local_->set_tag(results[i], tag);
    }
  }

  // The results of an op that has a form of its own for parts that lie like these.
  std::vector<Value> own_form(NodeId n, const std::vector<Value>& operands) {
    const Node& node = placed_.node(n);
    if (node.op->local == nullptr) return {};
    std::vector<Layout> from, to;
    for (ValueId v : node.operands) from.push_back(layout(v));
    for (ValueId v : node.results) to.push_back(layout(v));
    return node.op->local({*local_, placed_.call(n), operands, from, to, mesh_});
  }

  // This device's part of a splat or iota.
  Value generate(const Node& node) {
    const ValueId id = node.results[0];
    const TensorType type = local(id);
    const Value part = local_->append(*node.op, node.attributes, {}, {}, {type})[0];
    if (node.op != &iota_op) return part;
    const int64_t dim = iota_dim(node.attributes);
    if (type.dims[dim] == placed_.type(id).dims[dim]) return part;
    const Value start = part_start(*local_, layout(id), dim, mesh_);
    return add(part, broadcast(convert(start, type.dtype), type.dims, {}));
  }

  // An output's placement is a mark on its value. One value that is returned at two placements (along an axis of one
  // device they are the same to it) is copied.
  void set_outputs() {
    std::vector<Value> outputs;
    for (ValueId id : placed_.outputs()) {
      Value v = map_[id];
      const auto& marked = local_->info(v.id).placement;
      if (marked && *marked != placement(id)) v = optimization_barrier(std::vector<Value>{v})[0];
      local_->set_placement(v.id, placement(id));
      outputs.push_back(v);
    }
    local_->set_outputs(outputs);
  }

  const Graph& placed_;
  const Mesh& mesh_;
  std::shared_ptr<Graph> local_ = std::make_shared<Graph>();
  ValueMap map_;
};

}  // namespace

std::shared_ptr<Graph> localise(const Graph& placed, const Mesh& mesh) {
  return without_dead_code(*Localisation(placed, mesh).run());
}

}  // namespace tethys
