#include "runtime/graph_identity.h"

#include "base/hash.h"

namespace tethys {
namespace {

void describe(const Graph& graph, std::string& text) {
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    text += node.op->name;
    text += '{' + node.attributes.to_string() + '}';
    for (ValueId v : node.operands) text += fmt::format(" {}", v);
    for (ValueId v : node.results) {
      const ValueInfo& info = graph.info(v);
      text += " : " + to_string(info.type);
      if (info.placement) text += to_string(*info.placement);
    }
    text += '\n';
    for (const auto& region : node.regions) describe(*region, text);
  }
  for (ValueId v : graph.outputs()) text += fmt::format("return {}\n", v);
}

bool same_node(const Graph& a, const Node& x, const Graph& b, const Node& y) {
  if (x.op != y.op || x.operands != y.operands || x.results != y.results || x.regions.size() != y.regions.size() ||
      !(x.attributes == y.attributes)) {
    return false;
  }
  for (ValueId v : x.results) {
    if (a.type(v) != b.type(v) || a.info(v).placement != b.info(v).placement) return false;
  }
  for (size_t i = 0; i < x.regions.size(); ++i) {
    if (x.regions[i] != y.regions[i] && !same_program(*x.regions[i], *y.regions[i])) return false;
  }
  return true;
}

}  // namespace

std::string graph_hash(const Graph& graph) {
  std::string text;
  describe(graph, text);
  return hash_hex(text);
}

bool same_program(const Graph& a, const Graph& b) {
  if (a.node_count() != b.node_count() || a.inputs() != b.inputs() || a.outputs() != b.outputs()) return false;
  for (NodeId id = 0; id < a.node_count(); ++id) {
    if (!same_node(a, a.node(id), b, b.node(id))) return false;
  }
  return true;
}

}  // namespace tethys
