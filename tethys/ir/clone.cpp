#include "ir/clone.h"

namespace tethys {

std::vector<Value> clone_node(const Graph& source, NodeId id, Graph& target, ValueMap& map) {
  const Node& node = source.node(id);
  std::vector<Value> operands;
  for (ValueId v : node.operands) {
    require(map[v].id >= 0, "clone of {}: operand %{} was not cloned", node.op->name, v);
    operands.push_back(map[v]);
  }
  const std::string outer = target.scope();
  target.set_scope(node.scope);
  std::vector<Value> results =
      target.append(*node.op, node.attributes, operands, node.regions, source.call(id).declared);
  target.set_scope(outer);
  for (size_t i = 0; i < results.size(); ++i) {
    map[node.results[i]] = results[i];
    const ValueInfo& info = source.info(node.results[i]);
    if (!info.tag.empty()) target.set_tag(results[i], info.tag);
  }
  return results;
}

std::vector<Value> inline_graph(const Graph& source, Graph& target, const std::vector<Value>& arguments) {
  require(arguments.size() == source.inputs().size(), "{} arguments for a graph of {} inputs", arguments.size(),
          source.inputs().size());
  ValueMap map(source.value_count());
  for (size_t i = 0; i < arguments.size(); ++i) map[source.inputs()[i]] = arguments[i];
  for (NodeId n = 0; n < source.node_count(); ++n) {
    if (source.node(n).op != &input_op) clone_node(source, n, target, map);
  }
  std::vector<Value> outputs;
  for (ValueId v : source.outputs()) outputs.push_back(map[v]);
  return outputs;
}

std::shared_ptr<Graph> without_dead_nodes(const Graph& graph) {
  std::vector<bool> live(graph.value_count(), false);
  for (ValueId v : graph.outputs()) live[v] = true;
  std::vector<bool> keep(graph.node_count(), false);
  for (NodeId n = graph.node_count() - 1; n >= 0; --n) {
    const Node& node = graph.node(n);
    for (ValueId v : node.results) keep[n] = keep[n] || live[v];
    if (!keep[n]) continue;
    for (ValueId v : node.operands) live[v] = true;
  }
  auto result = std::make_shared<Graph>();
  ValueMap map(graph.value_count());
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueInfo& info = graph.info(graph.inputs()[i]);
    map[graph.inputs()[i]] = result->input(info.type, graph.input_name(i), info.placement);
  }
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (!keep[n] || node.op == &input_op) continue;
    for (Value v : clone_node(graph, n, *result, map)) {
      const ValueInfo& info = graph.info(node.results[result->info(v.id).result]);
      if (info.placement) result->set_placement(v.id, *info.placement);
    }
  }
  std::vector<Value> outputs;
  for (ValueId v : graph.outputs()) outputs.push_back(map[v]);
  result->set_outputs(outputs);
  return result;
}

}  // namespace tethys
