// The compositions that say what the kernels of routed experts compute, however rows get to the experts.
#pragma once

#include "ir/graph.h"
#include "kernels/routed_experts/dispatch.h"

namespace tethys {

// The results of the kernel and of its backward, for the experts of this device.
std::vector<Value> experts_forward(const Dispatch& dispatch, const std::vector<Value>& operands);
std::vector<Value> experts_backward(const Dispatch& dispatch, const Attributes& attributes,
                                    const std::vector<Value>& operands);

std::vector<Value> routed_experts_reference(Graph& graph, const Attributes& attributes,
                                            const std::vector<Value>& operands);
std::vector<Value> routed_experts_backward_reference(Graph& graph, const Attributes& attributes,
                                                     const std::vector<Value>& operands);

}  // namespace tethys
