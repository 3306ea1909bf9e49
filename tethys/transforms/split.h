// split: one recorded graph as two, run one after the other: what stands before a node, and what stands from it on. A
// forward and a backward that are programs of their own are a training graph that is split where its gradient begins.
//
//   const NodeId end = graph.node_count();     // the loss is recorded
//   gradients(loss, parameters, {});
//   Split halves = split(graph, end);
#pragma once

#include <memory>
#include <vector>

#include "ir/graph.h"

namespace tethys {

// Both take all inputs of the graph. `first` gives those of its outputs that it computes, then the residuals; `second`
// takes the residuals after its inputs and gives the other outputs. What is cheap to make again is made again
// and is no residual: generators, broadcasts, casts, and gathered parameters that are not to be kept. Inputs for
// residuals have no placement yet: it is where the first graph leaves them.
struct Split {
  std::shared_ptr<Graph> first, second;
  std::vector<size_t> first_outputs, second_outputs;  // which of the graph's outputs, in order
  size_t residuals = 0;
};

Split split(const Graph& graph, NodeId begin);

}  // namespace tethys
