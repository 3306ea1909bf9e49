// The compositions that say what the kernels of routed experts compute, for the experts that `ids` count from 0.
#pragma once

#include "ir/graph.h"

namespace tethys {

std::vector<Value> routed_experts_reference(Graph& graph, const Attributes& attributes,
                                            const std::vector<Value>& operands);
std::vector<Value> routed_experts_backward_reference(Graph& graph, const Attributes& attributes,
                                                     const std::vector<Value>& operands);

}  // namespace tethys
