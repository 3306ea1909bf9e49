// Dead code: what the outputs of a graph do not need, inside regions too.
#pragma once

#include <memory>

#include "ir/graph.h"

namespace tethys {

// A copy of `graph` without it: the same inputs and outputs, but nodes, carries, results and operands of scans and
// checkpoints that feed nothing are gone. Placements and tags go along.
std::shared_ptr<Graph> without_dead_code(const Graph& graph);

}  // namespace tethys
