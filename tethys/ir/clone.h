// Copying nodes from one graph to another: what every pass that rewrites a graph is made of.
//
//   ValueMap map(source.value_count());
//   map[source.inputs()[0]] = target.input(type, "x");
//   for (NodeId n …) clone_node(source, n, target, map);
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ir/graph.h"

namespace tethys {

// From a source's ValueId to the value that stands for it in the target; id −1 where there is none yet.
using ValueMap = std::vector<Value>;

// Appends the node to `target` with mapped operands, and maps its results. Tags and scopes go along. The result types
// are inferred anew; ops that take their shape from the caller get the source's types.
std::vector<Value> clone_node(const Graph& source, NodeId node, Graph& target, ValueMap& map);
// The same with other regions.
std::vector<Value> clone_node(const Graph& source, NodeId node, Graph& target, ValueMap& map, Regions regions);

// A graph with `source`'s inputs and outputs, their placements too. `step` is called for every node but the inputs, and
// maps the node's results to what stands for them.
std::shared_ptr<Graph> rewritten(const Graph& source,
                                 const std::function<void(NodeId node, Graph& target, ValueMap& map)>& step);

// Appends all of `source` to `target` in place of a call: its inputs stand for `arguments`. Returns its outputs.
std::vector<Value> inline_graph(const Graph& source, Graph& target, const std::vector<Value>& arguments);

}  // namespace tethys
