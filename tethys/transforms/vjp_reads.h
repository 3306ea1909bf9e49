// What the backward of one node would read of the forward: which values an eager run must keep.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace tethys {

// The operands and results whose data the node's vjp reads; empty where it has no gradient. Found by recording the rule
// for itself, so that it is always what the rule says.
std::vector<ValueId> vjp_reads(const Graph& graph, NodeId node);

}  // namespace tethys
