// The one rule of placement: from an op's factors and where its operands lie, where they must lie and where the results
// do. It serves every op, and knows none.
//
// Mesh axes are decided one by one, in mesh order. Along an axis either one factor is sharded, and beside it maybe one
// that is exchanged, or the node is linear in operands that are Partial and lets them through, or everything is whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/factors.h"
#include "values/mesh.h"

namespace tethys {

struct PlacedOperand {
  TensorType type;
  // Absent for a generator, which can be made in any placement.
  std::optional<Placement> placement;
  // Of a generator: a splat of zeros, which is Partial as well as it is anything else.
  bool zero = false;
};

struct NodePlacement {
  std::vector<Placement> operands;
  std::vector<Placement> results;
  // A line for each operand that is sharded but must be made whole, with the reason.
  std::vector<std::string> notes;
};

NodePlacement place_node(const Factors& factors, const std::vector<PlacedOperand>& operands, const Mesh& mesh);

}  // namespace tethys
