// Reverse-mode differentiation: one loop over the arena, from the output back, that asks each op's record for its rule.
//
//   std::vector<std::optional<Value>> g = gradients(loss, {w1, w2}, RematPolicy{});
//
// The nodes of the backward are appended to the graph of `output`. Scans and checkpoints of the forward are given
// further results, the residuals that the policy lets their backward read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tethys {

// Which values of a scan's or checkpoint's forward its backward may keep; all others are computed again there.
struct RematPolicy {
  enum class Kind {
    None,       // keep whatever the backward reads, except what is cheap to make again
    Full,       // keep the region's inputs only
    Selective,  // keep the inputs and the values tagged with one of `names`
  };
  Kind kind = Kind::None;
  std::vector<std::string> names;
  // Tags of values that are kept in the host's memory: with Selective these are kept besides `names`. "layer_input"
  // names the region's own inputs too.
  std::vector<std::string> offload = {};
  bool offload_all = false;  // whatever is kept, but for gathered parameters
  bool operator==(const RematPolicy&) const = default;
};

// The gradients of `output`, a floating scalar, with respect to `wrt`; absent where it does not depend on them. A
// gradient has the shape of its value and its dtype, or the wider one that the value's parametrization asks for.
std::vector<std::optional<Value>> gradients(Value output, std::span<const Value> wrt, const RematPolicy& policy);

}  // namespace tethys
