#include "ir/clone.h"

namespace tethys {

std::vector<Value> clone_node(const Graph& source, NodeId id, Graph& target, ValueMap& map) {
  return clone_node(source, id, target, map, source.node(id).regions);
}

std::vector<Value> clone_node(const Graph& source, NodeId id, Graph& target, ValueMap& map, Regions regions) {
  const Node& node = source.node(id);
  std::vector<Value> operands;
  for (ValueId v : node.operands) {
    require(map[v].id >= 0, "clone of {}: operand %{} was not cloned", node.op->name, v);
    operands.push_back(map[v]);
  }
  const std::string outer = target.scope();
  target.set_scope(node.scope);
  std::vector<Value> results =
      target.append(*node.op, node.attributes, operands, std::move(regions), source.call(id).declared);
  target.set_scope(outer);
  for (size_t i = 0; i < results.size(); ++i) {
    map[node.results[i]] = results[i];
    const ValueInfo& info = source.info(node.results[i]);
    if (!info.tag.empty()) target.set_tag(results[i], info.tag);
  }
  return results;
}

std::shared_ptr<Graph> rewritten(const Graph& source, const std::function<void(NodeId, Graph&, ValueMap&)>& step) {
  auto target = std::make_shared<Graph>();
  ValueMap map(source.value_count());
  for (size_t i = 0; i < source.inputs().size(); ++i) {
    const ValueInfo& info = source.info(source.inputs()[i]);
    map[source.inputs()[i]] = target->input(info.type, source.input_name(i), info.placement);
  }
  for (NodeId n = 0; n < source.node_count(); ++n) {
    if (source.node(n).op != &input_op) step(n, *target, map);
  }
  std::vector<Value> outputs;
  for (ValueId v : source.outputs()) {
    outputs.push_back(map[v]);
    if (const auto& placement = source.info(v).placement) target->set_placement(map[v].id, *placement);
  }
  target->set_outputs(outputs);
  return target;
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

}  // namespace tethys
