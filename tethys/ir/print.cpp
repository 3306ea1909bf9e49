#include <fmt/ranges.h>

#include "ir/graph.h"

namespace tethys {
namespace {

std::string names(const std::vector<ValueId>& ids) {
  std::string text;
  for (ValueId id : ids) text += fmt::format("{}%{}", text.empty() ? "" : ", ", id);
  return text;
}

std::string typed(const Graph& graph, ValueId id) {
  const ValueInfo& info = graph.info(id);
  std::string text = to_string(info.type);
  if (info.placement && !info.placement->empty()) text += to_string(*info.placement);
  if (!info.tag.empty()) text += fmt::format(" \"{}\"", info.tag);
  return text;
}

void print(const Graph& graph, int depth, std::string& text) {
  const std::string indent(static_cast<size_t>(depth) * 2, ' ');
  size_t next_input = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    std::string types;
    for (ValueId v : node.results) types += (types.empty() ? "" : ", ") + typed(graph, v);
    std::string attributes = node.attributes.to_string();
    if (node.op == &input_op) attributes = fmt::format("\"{}\"", graph.input_name(next_input++));
    if (!attributes.empty()) attributes = " {" + attributes + "}";
    text += fmt::format("{}{} = {}({}){} : {}\n", indent, names(node.results), node.op->name, names(node.operands),
                        attributes, types);
    for (const auto& region : node.regions) print(*region, depth + 1, text);
  }
  text += fmt::format("{}return {}\n", indent, names(graph.outputs()));
}

}  // namespace

std::string to_string(const Graph& graph) {
  std::string text;
  print(graph, 0, text);
  return text;
}

void verify(const Graph& graph) {
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    for (ValueId operand : node.operands) {
      require(operand >= 0 && operand < graph.value_count() && graph.info(operand).node < id,
              "node {} ({}) reads value %{} before it is made", id, node.op->name, operand);
    }
    for (const auto& region : node.regions) verify(*region);
    if (node.op == &input_op) continue;
    const OpCall call = graph.call(id);
    const std::vector<TensorType> types = node.op->infer(call);
    require(types == call.declared, "node {} ({}) has result types that inference does not give", id, node.op->name);
  }
}

}  // namespace tethys
