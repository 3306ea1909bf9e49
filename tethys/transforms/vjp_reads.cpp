#include "transforms/vjp_reads.h"

#include <algorithm>

namespace tethys {
namespace {

bool any_floating(const Graph& graph, const std::vector<ValueId>& values) {
  return std::any_of(values.begin(), values.end(), [&](ValueId v) { return is_floating(graph.type(v).dtype); });
}

// The inputs of a scratch graph that stand for a node's values.
struct Recorded {
  Graph graph;
  std::vector<Value> operands, results;
  std::vector<bool> read;  // by ValueId of the scratch graph

  void mark(const Cotangents& cotangents) {
    read.assign(static_cast<size_t>(graph.value_count()), false);
    for (NodeId n = 0; n < graph.node_count(); ++n) {
      for (ValueId v : graph.node(n).operands) read[v] = true;
    }
    for (const std::optional<Value>& cotangent : cotangents) {
      if (cotangent) read[cotangent->id] = true;
    }
  }
};

void record_rule(const OpCall& call, Recorded& recorded) {
  VjpContext context{recorded.graph, call, {}, {}, {}, {}};
  for (const TensorType& type : call.operands) {
    recorded.operands.push_back(recorded.graph.input(type, "operand"));
    context.wanted.push_back(is_floating(type.dtype));
  }
  for (const TensorType& type : call.declared) recorded.results.push_back(recorded.graph.input(type, "result"));
  for (const TensorType& type : call.declared) {
    const bool has_one = is_floating(type.dtype);
    context.cotangents.push_back(has_one ? std::optional(recorded.graph.input(type, "cotangent")) : std::nullopt);
  }
  context.operands = recorded.operands;
  context.results = recorded.results;
  try {
    recorded.mark(call.op.vjp(context));
  } catch (const InternalError&) {
    recorded.mark({});  // refused now, as it will be when the gradient is asked for
  }
}

}  // namespace

std::vector<ValueId> vjp_reads(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::vector<ValueId> reads;
  if (!any_floating(graph, node.operands) || !any_floating(graph, node.results)) return reads;
  if (node.op->gradient == Gradient::Region) {  // the node runs again with further results
    reads = node.operands;
    reads.insert(reads.end(), node.results.begin(), node.results.end());
    return reads;
  }
  if (node.op->gradient != Gradient::Rule) return reads;
  Recorded recorded;
  record_rule(graph.call(id), recorded);
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (recorded.read[recorded.operands[i].id]) reads.push_back(node.operands[i]);
  }
  for (size_t i = 0; i < node.results.size(); ++i) {
    if (recorded.read[recorded.results[i].id]) reads.push_back(node.results[i]);
  }
  return reads;
}

}  // namespace tethys
