// propagate: gives every value of a recorded graph a placement on a mesh, and writes each change of placement as a
// redistribute node. One pass in id order: producers decide, and recorded redistribute nodes are the only hints.
//
// The rules are the ops' factors (ir/factors.h). A scan is the one fixpoint: the carry that comes out is redistributed
// to the placement that went in, and a carry that went in without one (zeros) takes that of the first pass's result.
#pragma once

#include <memory>

#include "ir/graph.h"
#include "values/mesh.h"

namespace tethys {

// A copy of `graph`, types still global, in which
//   - every value but a generator's has a placement (inputs without one are replicated),
//   - every operand of a node lies as the node's factors need it,
//   - every redistribute node has one operand and an explicit target.
std::shared_ptr<Graph> propagate(const Graph& graph, const Mesh& mesh);

}  // namespace tethys
