#include "transforms/dead_code.h"

#include <algorithm>
#include <unordered_map>

#include "ir/clone.h"
#include "ops/control/scan.h"
#include "ops/registry.h"

namespace tethys {
namespace {

// What is needed of a graph for the outputs that are wanted of it.
struct Need {
  std::vector<bool> values;
  std::vector<bool> outputs;
  struct Region {
    std::unique_ptr<Need> inside;
    std::vector<bool> operands;
    std::vector<bool> results;
  };
  std::unordered_map<NodeId, Region> regions;  // of the scans and checkpoints that are needed

  std::vector<bool> inputs(const Graph& graph) const {
    std::vector<bool> needed;
    for (ValueId v : graph.inputs()) needed.push_back(values[v]);
    return needed;
  }
};

std::unique_ptr<Need> need_of(const Graph& graph, std::vector<bool> outputs);

// A carry is needed when its result is, or when an iteration reads it for something that is.
Need::Region need_of_region(const Node& node, std::vector<bool> results) {
  const Graph& region = *node.regions[0];
  Need::Region need;
  if (node.op->structure == Structure::Call) {
    need.inside = need_of(region, results);
    need.operands = need.inside->inputs(region);
    need.results = std::move(results);
    return need;
  }
  const ScanAttributes& a = scan_attributes(node.attributes);
  for (bool grown = true; grown;) {
    grown = false;
    need.inside = need_of(region, results);
    need.operands = need.inside->inputs(region);
    for (int64_t i = 0; i < a.carries; ++i) {
      const bool read = need.operands[a.consts + i];
      grown = grown || (read && !results[i]);
      results[i] = results[i] || read;
    }
  }
  for (int64_t i = 0; i < a.carries; ++i) need.operands[a.consts + i] = results[i];
  need.results = std::move(results);
  return need;
}

std::unique_ptr<Need> need_of(const Graph& graph, std::vector<bool> outputs) {
  auto need = std::make_unique<Need>();
  need->values.assign(graph.value_count(), false);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) need->values[graph.outputs()[i]] = true;
  }
  need->outputs = std::move(outputs);
  for (NodeId n = graph.node_count() - 1; n >= 0; --n) {
    const Node& node = graph.node(n);
    std::vector<bool> results;
    for (ValueId v : node.results) results.push_back(need->values[v]);
    if (std::find(results.begin(), results.end(), true) == results.end()) continue;
    if (node.op->structure == Structure::Plain) {
      for (ValueId v : node.operands) need->values[v] = true;
      continue;
    }
    Need::Region region = need_of_region(node, std::move(results));
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (region.operands[i]) need->values[node.operands[i]] = true;
    }
    need->regions.emplace(n, std::move(region));
  }
  return need;
}

template <typename T>
std::vector<T> kept(const std::vector<T>& all, const std::vector<bool>& keep) {
  std::vector<T> result;
  for (size_t i = 0; i < all.size(); ++i) {
    if (keep[i]) result.push_back(all[i]);
  }
  return result;
}

std::shared_ptr<Graph> copy(const Graph& graph, const Need& need, const std::vector<bool>& inputs);

void copy_marks(const Graph& source, ValueId from, Graph& target, Value to) {
  const ValueInfo& info = source.info(from);
  if (info.placement) target.set_placement(to.id, *info.placement);
  if (!info.tag.empty()) target.set_tag(to, info.tag);
}

void copy_region_node(const Graph& source, const Node& node, const Need::Region& need, Graph& target, ValueMap& map) {
  std::vector<Value> operands;
  for (ValueId v : kept(node.operands, need.operands)) operands.push_back(map[v]);
  Attributes attributes = node.attributes;
  if (node.op->structure == Structure::Loop) {
    ScanAttributes a = scan_attributes(node.attributes);
    const auto consts = need.operands.begin() + a.consts;
    a.carries = std::count(need.results.begin(), need.results.begin() + a.carries, true);
    a.consts = std::count(need.operands.begin(), consts, true);
    attributes = a;
  }
  target.set_scope(node.scope);
  const std::vector<Value> results =
      target.append(*node.op, std::move(attributes), operands, {copy(*node.regions[0], *need.inside, need.operands)});
  target.set_scope("");
  const std::vector<ValueId> old = kept(node.results, need.results);
  for (size_t i = 0; i < old.size(); ++i) {
    map[old[i]] = results[i];
    copy_marks(source, old[i], target, results[i]);
  }
}

// The regions of an op that passes leave alone keep their signature.
Regions copy_regions(const Node& node) {
  Regions regions;
  for (const auto& region : node.regions) regions.push_back(without_dead_code(*region));
  return regions;
}

void copy_plain(const Graph& source, NodeId id, Graph& target, ValueMap& map) {
  const Node& node = source.node(id);
  std::vector<Value> operands;
  for (ValueId v : node.operands) operands.push_back(map[v]);
  target.set_scope(node.scope);
  const std::vector<Value> results =
      target.append(*node.op, node.attributes, operands, copy_regions(node), source.call(id).declared);
  target.set_scope("");
  for (size_t i = 0; i < results.size(); ++i) {
    map[node.results[i]] = results[i];
    copy_marks(source, node.results[i], target, results[i]);
  }
}

std::shared_ptr<Graph> copy(const Graph& graph, const Need& need, const std::vector<bool>& inputs) {
  auto target = std::make_shared<Graph>();
  ValueMap map(graph.value_count());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const ValueInfo& info = graph.info(graph.inputs()[i]);
    map[graph.inputs()[i]] = target->input(info.type, graph.input_name(i), info.placement);
  }
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    const bool needed =
        std::any_of(node.results.begin(), node.results.end(), [&](ValueId v) { return need.values[v]; });
    if (!needed || node.op == &input_op) continue;
    if (node.op->structure == Structure::Plain)
      copy_plain(graph, n, *target, map);
    else
      copy_region_node(graph, node, need.regions.at(n), *target, map);
  }
  std::vector<Value> outputs;
  for (ValueId v : kept(graph.outputs(), need.outputs)) outputs.push_back(map[v]);
  target->set_outputs(outputs);
  return target;
}

}  // namespace

std::shared_ptr<Graph> without_dead_code(const Graph& graph) {
  const std::unique_ptr<Need> need = need_of(graph, std::vector<bool>(graph.outputs().size(), true));
  return copy(graph, *need, std::vector<bool>(graph.inputs().size(), true));
}

}  // namespace tethys
