#include "transforms/region_split.h"

#include <algorithm>

#include "ir/clone.h"
#include "ops/control/to_memory.h"
#include "transforms/made_again.h"

namespace tethys {
namespace {

// What policies call the region's own inputs, which are kept in any case.
constexpr std::string_view kRegionInput = "layer_input";

class Planner {
 public:
  Planner(RegionSplit& split, const SplitRequest& request, const RematPolicy& policy)
      : split_(split), request_(request), policy_(policy), graph_(*split.joint) {
    needed_.assign(graph_.value_count(), false);
    split_.replayed.assign(graph_.node_count(), false);
    find_invariants();
  }

  void plan() {
    for (const auto& g : split_.gradients) {
      if (g) need(g->id);
    }
    // Backward nodes from the end: what a live one reads is needed; then forward nodes likewise where they are
    // replayed.
    for (NodeId n = graph_.node_count() - 1; n >= 0; --n) {
      const Node& node = graph_.node(n);
      if (node.op == &input_op || !any_needed(node)) continue;
      if (n < split_.forward_nodes && is_residual(n)) {
        for (ValueId v : node.results) {
          if (needed_[v]) split_.residuals.push_back(v);
        }
        continue;
      }
      split_.replayed[n] = true;
      for (ValueId v : node.operands) need(v);
    }
    const auto& inputs = graph_.inputs();
    for (size_t i = 0; i < request_.available.size(); ++i) {
      if (needed_[inputs[i]] && !request_.available[i]) split_.residuals.push_back(inputs[i]);
    }
    std::sort(split_.residuals.begin(), split_.residuals.end());
    for (ValueId v : split_.residuals) split_.offloaded.push_back(is_offloaded(v));
  }

 private:
  void need(ValueId v) { needed_[v] = true; }

  bool any_needed(const Node& node) const {
    return std::any_of(node.results.begin(), node.results.end(), [this](ValueId v) { return needed_[v]; });
  }

  bool is_residual(NodeId n) const {
    const Node& node = graph_.node(n);
    if (invariant_[n] || is_made_again(node)) return false;
    // A gathered parameter that may be kept is kept whatever the policy says of activations.
    if (node.op == &redistribute_op && is_parametrization(redistribute_attributes(node.attributes))) return true;
    if (policy_.kind == RematPolicy::Kind::None) return true;
    if (policy_.kind == RematPolicy::Kind::Full) return false;
    return std::any_of(node.results.begin(), node.results.end(), [this](ValueId v) {
      return is_named(v, policy_.names) || (is_named(v, policy_.offload) && graph_.info(v).tag != kRegionInput);
    });
  }

  bool is_named(ValueId v, const std::vector<std::string>& names) const {
    const std::string& tag = graph_.info(v).tag;
    return !tag.empty() && std::find(names.begin(), names.end(), tag) != names.end();
  }

  bool is_offloaded(ValueId v) const {
    const Node& node = graph_.producer(v);
    if (node.op == &redistribute_op && is_parametrization(redistribute_attributes(node.attributes))) return false;
    if (policy_.offload_all || is_named(v, policy_.offload)) return true;
    return node.op == &input_op &&
           std::find(policy_.offload.begin(), policy_.offload.end(), kRegionInput) != policy_.offload.end();
  }

  void find_invariants() {
    invariant_.assign(graph_.node_count(), false);
    const auto& inputs = graph_.inputs();
    for (size_t i = 0; i < request_.invariant.size(); ++i) {
      if (request_.invariant[i]) invariant_[graph_.info(inputs[i]).node] = true;
    }
    for (NodeId n = 0; n < split_.forward_nodes; ++n) {
      const Node& node = graph_.node(n);
      if (node.op == &input_op) continue;
      invariant_[n] = std::all_of(node.operands.begin(), node.operands.end(),
                                  [this](ValueId v) { return invariant_[graph_.info(v).node]; });
    }
  }

  RegionSplit& split_;
  const SplitRequest& request_;
  const RematPolicy& policy_;
  const Graph& graph_;
  std::vector<bool> needed_;
  std::vector<bool> invariant_;
};

}  // namespace

RegionSplit split_region(const Graph& region, const SplitRequest& request, const RematPolicy& policy) {
  RegionSplit split;
  split.joint = std::make_shared<Graph>();
  Graph& joint = *split.joint;
  std::vector<Value> inputs;
  for (size_t i = 0; i < region.inputs().size(); ++i) {
    inputs.push_back(joint.input(region.type(region.inputs()[i]), region.input_name(i)));
  }
  const std::vector<Value> outputs = inline_graph(region, joint, inputs);
  split.forward_nodes = joint.node_count();
  for (size_t i = 0; i < outputs.size(); ++i) {
    split.seeds.emplace_back();
    if (request.seeded[i]) split.seeds.back() = joint.input(outputs[i].type(), fmt::format("cotangent{}", i));
  }
  std::vector<Value> wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (request.wanted[i]) wanted.push_back(inputs[i]);
  }
  const CotangentMap cotangents = backward(joint, wanted, outputs, split.seeds, policy);
  for (size_t i = 0; i < inputs.size(); ++i) {
    split.gradients.push_back(request.wanted[i] ? cotangents.find(inputs[i]) : std::nullopt);
  }
  joint.set_outputs(outputs);
  Planner(split, request, policy).plan();
  return split;
}

std::shared_ptr<Graph> forward_region(const RegionSplit& split, const Graph& region) {
  const Graph& joint = *split.joint;
  auto forward = std::make_shared<Graph>();
  ValueMap map(joint.value_count());
  for (size_t i = 0; i < region.inputs().size(); ++i) {
    map[joint.inputs()[i]] = forward->input(joint.type(joint.inputs()[i]), joint.input_name(i));
  }
  for (NodeId n = 0; n < split.forward_nodes; ++n) {
    if (joint.node(n).op != &input_op) clone_node(joint, n, *forward, map);
  }
  std::vector<Value> outputs;
  for (ValueId v : joint.outputs()) outputs.push_back(map[v]);
  for (size_t i = 0; i < split.residuals.size(); ++i) {
    const Value residual = map[split.residuals[i]];
    outputs.push_back(split.offloaded[i] ? to_memory(residual, Memory::Host) : residual);
  }
  forward->set_outputs(outputs);
  return forward;
}

Value fetched(const RegionSplit& split, size_t i, Value given) {
  return split.offloaded[i] ? to_memory(given, Memory::Device) : given;
}

std::vector<std::optional<Value>> replay_backward(const RegionSplit& split, Graph& target, ValueMap& map) {
  for (NodeId n = 0; n < split.joint->node_count(); ++n) {
    if (split.replayed[n]) clone_node(*split.joint, n, target, map);
  }
  std::vector<std::optional<Value>> gradients;
  for (const auto& g : split.gradients) {
    gradients.emplace_back();
    if (g) gradients.back() = map[g->id];
  }
  return gradients;
}

}  // namespace tethys
