#include "transforms/propagate.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "ir/clone.h"
#include "ops/control/redistribute.h"
#include "ops/control/scan.h"
#include "ops/registry.h"
#include "ops/shape/splat.h"
#include "transforms/propagate_rule.h"

namespace tethys {
namespace {

// How to make a value that has no placement of its own.
struct Generator {
  const OpRecord* op;
  Attributes attributes;
  TensorType type;
  bool zero;
};

// What stands for an input of a region: a placed value, or a generator that the region makes for itself.
struct Given {
  Placement placement;
  std::optional<Generator> generator = std::nullopt;
};

// Where a stack of slices lies, and the other way round. A stack's leading dimension is never sharded.
Placement stacked(Placement slice) {
  for (AxisPlacement& a : slice) {
    if (a.is_shard()) ++a.dim;
  }
  return slice;
}

Placement sliced(Placement stack) {
  for (AxisPlacement& a : stack) {
    if (a.is_shard()) a = a.dim == 0 ? replicate() : shard(a.dim - 1);
  }
  return stack;
}

class Propagation {
 public:
  Propagation(const Graph& source, const Mesh& mesh, const std::vector<Given>& inputs)
      : source_(source), mesh_(mesh), map_(source.value_count()) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId id = source.inputs()[i];
      map_[id] = target_->input(source.type(id), source.input_name(i), inputs[i].placement);
      if (inputs[i].generator) generators_.emplace(id, *inputs[i].generator);
    }
    for (NodeId n = 0; n < source.node_count(); ++n) {
      target_->set_scope(source.node(n).scope);
      step(n);
    }
    target_->set_scope("");
  }

  // Where an output lies; absent for a generator.
  std::optional<Placement> output_placement(size_t index) const {
    const ValueId id = source_.outputs()[index];
    return generators_.contains(id) ? std::nullopt : target_->info(map_[id].id).placement;
  }

  // The result, with outputs moved to where they are wanted; those beyond the list stay where they are.
  std::shared_ptr<Graph> finish(const std::vector<Placement>& wanted = {}) {
    std::vector<Value> outputs;
    for (size_t i = 0; i < source_.outputs().size(); ++i) {
      const Placement lies = output_placement(i).value_or(replicated(mesh_));
      outputs.push_back(lying(source_.outputs()[i], i < wanted.size() ? wanted[i] : lies));
    }
    target_->set_outputs(outputs);
    return target_;
  }

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void step(NodeId n) {
    const Node& node = source_.node(n);
    if (node.op == &input_op) return;
    if (node.op->generator) {
      const ValueId id = node.results[0];
      generators_.emplace(id, Generator{node.op, node.attributes, source_.type(id), is_zero_splat(source_, id)});
    } else if (node.op == &redistribute_op) {
      redistribute(node);
    } else if (node.op->structure == Structure::Loop) {
      loop(node);
    } else if (node.op->structure == Structure::Call) {
      call(node);
    } else {
      plain(n);
    }
  }

  // --- values ---

  const Placement& placement_of(Value v) const { return *target_->info(v.id).placement; }

  // The target's value for `id`, in this placement. What is moved or made once is found again.
  Value lying(ValueId id, const Placement& placement) {
    if (!generators_.contains(id) && placement_of(map_[id]) == placement) return map_[id];
    for (const Value& v : moved_[id]) {
      if (placement_of(v) == placement) return v;
    }
    Value v;
    if (const auto g = generators_.find(id); g != generators_.end())
      v = make(g->second, placement);
    else if (can_make_again(id, placement))
      v = make_again(source_.info(id).node, placement);
    else
      v = placed(tethys::redistribute(map_[id], placement), placement);
    moved_[id].push_back(v);
    return v;
  }

  // A whole broadcast or convert of which a part is wanted: it is made from that part of its operand, instead of made
  // whole and cut.
  bool can_make_again(ValueId id, const Placement& placement) const {
    if (!source_.producer(id).op->recompute) return false;
    const Placement& lies = placement_of(map_[id]);
    for (size_t axis = 0; axis < lies.size(); ++axis) {
      if (lies[axis] != placement[axis] && !(lies[axis].is_replicate() && placement[axis].is_shard())) return false;
    }
    return true;
  }

  Value make_again(NodeId n, const Placement& placement) {
    const Node& node = source_.node(n);
    const OpCall call = source_.call(n);
    const Factors factors = node.op->factors(call);
    Placement operand = replicated(mesh_);
    for (size_t axis = 0; axis < placement.size(); ++axis) {
      if (placement[axis].is_partial()) operand[axis] = placement[axis];
      if (!placement[axis].is_shard()) continue;
      const TensorFactors& from = factors.operands[0];
      const auto same = std::find(from.begin(), from.end(), factors.results[0][placement[axis].dim]);
      if (same != from.end()) operand[axis] = shard(same - from.begin());
    }
    return placed(target_->append(*node.op, node.attributes, {lying(node.operands[0], operand)}, {}, call.declared)[0],
                  placement);
  }

  Value make(const Generator& g, const Placement& placement) {
    require(g.zero || !has_partial(placement), "a {} that is not zero as {}", g.op->name, to_string(placement));
    return placed(target_->append(*g.op, g.attributes, {}, {}, {g.type})[0], placement);
  }

  Value placed(Value v, Placement placement) {
    target_->set_placement(v.id, std::move(placement));
    return v;
  }

  // Appends the node and maps its results, which lie at `placements`.
  void append(const Node& node, const std::vector<Value>& operands, Regions regions,
              const std::vector<Placement>& placements) {
    std::vector<TensorType> declared;
    for (ValueId v : node.results) declared.push_back(source_.type(v));
    const std::vector<Value> results =
        target_->append(*node.op, node.attributes, operands, std::move(regions), std::move(declared));
    for (size_t i = 0; i < results.size(); ++i) map_result(node.results[i], placed(results[i], placements[i]));
  }

  void map_result(ValueId source, Value v) {
    map_[source] = v;
    const std::string& tag = source_.info(source).tag;
    if (!tag.empty()) target_->set_tag(v, tag);
  }

  // --- nodes that go by their factors ---

  void plain(NodeId n) {
    const Node& node = source_.node(n);
    require(node.op->factors != nullptr, "{} belongs to a per-device program, which is placed already", node.op->name);
    const NodePlacement where = place(n);
    for (const std::string& note : where.notes) {
      const std::string in = node.scope.empty() ? "" : " in " + node.scope;
      notes_.push_back(fmt::format("{}{}: {}", node.op->name, in, note));
    }
    std::vector<Value> operands;
    for (size_t i = 0; i < node.operands.size(); ++i) operands.push_back(lying(node.operands[i], where.operands[i]));
    append(node, operands, whole_regions(node), where.results);
  }

  NodePlacement place(NodeId n) const {
    const Node& node = source_.node(n);
    if (mesh_.rank() == 0)
      return {std::vector<Placement>(node.operands.size()), std::vector<Placement>(node.results.size()), {}};
    const OpCall call = source_.call(n);
    std::vector<PlacedOperand> operands;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId id = node.operands[i];
      const auto g = generators_.find(id);
      if (g == generators_.end())
        operands.push_back({call.operands[i], target_->info(map_[id].id).placement, false});
      else
        operands.push_back({call.operands[i], std::nullopt, g->second.zero});
    }
    return place_node(node.op->factors(call), operands, mesh_);
  }

  // Regions of an op whose operands are whole (while_loop): everything in them is.
  Regions whole_regions(const Node& node) {
    Regions regions;
    for (const auto& region : node.regions) {
      Propagation inside(*region, mesh_, std::vector<Given>(region->inputs().size(), {replicated(mesh_)}));
      regions.push_back(inside.finish(std::vector<Placement>(region->outputs().size(), replicated(mesh_))));
    }
    return regions;
  }

  // --- redistribute ---

  void redistribute(const Node& node) {
    const RedistributeAttributes& a = redistribute_attributes(node.attributes);
    const ValueId x = node.operands[0];
    const TensorType& type = source_.type(node.results[0]);
    const Placement target = a.target ? recorded_target(*a.target, type, node) : place_of_like(node.operands[1]);
    const auto g = generators_.find(x);
    const bool adapts =
        g != generators_.end() && g->second.type.dims == type.dims && (g->second.zero || !has_partial(target));
    const Value v = g != generators_.end() ? lying(x, adapts ? target : replicated(mesh_)) : map_[x];
    if (v.type() == type && placement_of(v) == target) {
      map_[node.results[0]] = v;
      return;
    }
    RedistributeAttributes attributes = a;
    attributes.target = target;
    map_result(node.results[0],
               placed(target_->append(redistribute_op, std::move(attributes), {v}, {}, {type})[0], target));
  }

  Placement place_of_like(ValueId like) const {
    if (generators_.contains(like)) return replicated(mesh_);
    Placement target = placement_of(map_[like]);
    for (AxisPlacement& a : target) {
      if (a.is_partial()) a = replicate();
    }
    return target;
  }

  // An empty target means whole on every device.
  Placement recorded_target(const Placement& target, const TensorType& type, const Node& node) const {
    if (target.empty()) return replicated(mesh_);
    const std::string in = node.scope.empty() ? "" : "; in " + node.scope;
    if (static_cast<int64_t>(target.size()) != mesh_.rank())
      user_error("redistribute to {}: expected one entry for each axis of mesh {}{}", to_string(target),
                 to_string(mesh_), in);
    for (const AxisPlacement& a : target) {
      if (!a.is_shard()) continue;
      if (a.dim < 0 || a.dim >= type.rank())
        user_error("redistribute of {} to {}: there is no dimension {}{}", to_string(type), to_string(target), a.dim,
                   in);
      const int64_t parts = shard_count(target, mesh_, a.dim);
      const int64_t size = type.dims[a.dim];
      if (size % parts != 0)
        user_error("redistribute of {} to {}: dimension {} does not divide into {} parts on mesh {}; {} would{}",
                   to_string(type), to_string(target), a.dim, parts, to_string(mesh_),
                   (size + parts - 1) / parts * parts, in);
    }
    return target;
  }

  // --- regions ---

  Given given(ValueId id) const {
    const auto g = generators_.find(id);
    if (g == generators_.end()) return {placement_of(map_[id])};
    return {replicated(mesh_), g->second};
  }

  // What one iteration gets of a stack. A splat's slice is a splat.
  Given given_slice(ValueId id) const {
    Given stack = given(id);
    if (!stack.generator) return {sliced(stack.placement)};
    if (stack.generator->op != &splat_op) return {replicated(mesh_)};
    stack.generator->type = slice_type(stack.generator->type);
    return stack;
  }

  void call(const Node& node) {
    std::vector<Given> inputs;
    for (ValueId id : node.operands) inputs.push_back(given(id));
    Propagation inside(*node.regions[0], mesh_, inputs);
    std::vector<Value> operands;
    for (size_t i = 0; i < inputs.size(); ++i) operands.push_back(lying(node.operands[i], inputs[i].placement));
    append_region(node, operands, inside, {});
  }

  void loop(const Node& node) {
    const ScanAttributes& a = scan_attributes(node.attributes);
    const auto consts = static_cast<size_t>(a.consts);
    const auto carries = static_cast<size_t>(a.carries);
    std::vector<Given> inputs;
    for (size_t i = 0; i < node.operands.size(); ++i)
      inputs.push_back(i < consts + carries ? given(node.operands[i]) : given_slice(node.operands[i]));
    auto inside = std::make_unique<Propagation>(*node.regions[0], mesh_, inputs);
    while (settle(*inside, std::span(inputs).subspan(consts, carries)))
      inside = std::make_unique<Propagation>(*node.regions[0], mesh_, inputs);

    std::vector<Value> operands;
    std::vector<Placement> carried;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Placement& in = inputs[i].placement;
      operands.push_back(lying(node.operands[i], i < consts + carries ? in : stacked(in)));
      if (i >= consts && i < consts + carries) carried.push_back(in);
    }
    append_region(node, operands, *inside, carried);
  }

  // Decides where undecided carries go in, from where a pass has left them; false if all were decided. Each round fixes
  // what was undecided or takes a Partial away, so there are few.
  bool settle(const Propagation& inside, std::span<Given> carries) const {
    bool changed = false;
    for (size_t i = 0; i < carries.size(); ++i) {
      Given& in = carries[i];
      const Placement out = inside.output_placement(i).value_or(replicated(mesh_));
      if (!in.generator && !loses_partial(in.placement, out)) continue;
      Placement next = out;
      for (size_t axis = 0; axis < next.size(); ++axis) {
        const bool may = in.generator ? in.generator->zero : in.placement[axis] == next[axis];
        if (next[axis].is_partial() && !may) next[axis] = replicate();
      }
      in = {next};
      changed = true;
    }
    return changed;
  }

  static bool loses_partial(const Placement& in, const Placement& out) {
    for (size_t axis = 0; axis < in.size(); ++axis) {
      if (in[axis].is_partial() && in[axis] != out[axis]) return true;
    }
    return false;
  }

  // Appends a scan or checkpoint with its region done; the first outputs go to where they are wanted.
  void append_region(const Node& node, const std::vector<Value>& operands, Propagation& inside,
                     const std::vector<Placement>& wanted) {
    notes_.insert(notes_.end(), inside.notes_.begin(), inside.notes_.end());
    const std::shared_ptr<Graph> region = inside.finish(wanted);
    std::vector<Placement> results;
    for (size_t i = 0; i < region->outputs().size(); ++i) {
      const Placement& p = *region->info(region->outputs()[i]).placement;
      results.push_back(node.op->structure == Structure::Loop && i >= wanted.size() ? stacked(p) : p);
    }
    append(node, operands, {region}, results);
  }

  const Graph& source_;
  const Mesh& mesh_;
  std::shared_ptr<Graph> target_ = std::make_shared<Graph>();
  ValueMap map_;  // of source values that have a placement
  std::unordered_map<ValueId, Generator> generators_;
  std::unordered_map<ValueId, std::vector<Value>> moved_;  // other placements of a source value
  std::vector<std::string> notes_;
};

}  // namespace

std::shared_ptr<Graph> propagate(const Graph& graph, const Mesh& mesh, std::vector<std::string>* notes) {
  std::vector<Given> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto& placement = graph.info(graph.inputs()[i]).placement;
    const bool whole = !placement || placement->empty();
    inputs.push_back({whole ? replicated(mesh) : *placement});
    require(static_cast<int64_t>(inputs.back().placement.size()) == mesh.rank(), "input '{}' lies at {} on mesh {}",
            graph.input_name(i), to_string(inputs.back().placement), to_string(mesh));
  }
  Propagation propagation(graph, mesh, inputs);
  if (notes != nullptr) *notes = propagation.notes();
  return propagation.finish();
}

}  // namespace tethys
