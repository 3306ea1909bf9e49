// propagate: gives every value of a recorded graph a placement on a mesh, and writes each change of placement as a
// redistribute node. One pass in id order: producers decide, and recorded redistribute nodes are the only hints.
//
// The rules are the ops' factors (ir/factors.h), applied by transforms/propagate_rule.h. A scan is the one fixpoint:
// the carry that comes out is redistributed to the placement that went in, and a carry that went in without one
// (zeros), or as a Partial that an iteration resolves, takes that of the first pass's result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "values/mesh.h"

namespace tethys {

// A copy of `graph`, types still global, in which
//   - every value has a placement (inputs without one are replicated),
//   - a generator stands once for each placement that it is read in, and inside the regions that read it,
//   - every operand of a node lies as the node's factors need it,
//   - every redistribute node has one operand and an explicit target.
// `notes`, if given, gets a line for each sharded operand that had to be made whole. UserError if a recorded target
// does not fit its shape or the mesh.
std::shared_ptr<Graph> propagate(const Graph& graph, const Mesh& mesh, std::vector<std::string>* notes = nullptr);

}  // namespace tethys
