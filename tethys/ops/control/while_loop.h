// while_loop: runs `body` as long as `condition` holds. It has no gradient (scan does), and
// is the same on every device.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace tethys {

using LoopBody = std::function<std::vector<Value>(Graph& region, const std::vector<Value>& state)>;

// `condition` returns one bool scalar, `body` the next state, of the same types.
std::vector<Value> while_loop(const std::vector<Value>& state, const LoopBody& condition, const LoopBody& body);

}  // namespace tethys
