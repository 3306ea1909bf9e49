// The composition of ordinary ops that says what the attention kernels compute.
#pragma once

#include "ir/graph.h"

namespace tethys {

std::vector<Value> attention_reference(Graph& graph, const Attributes& attributes, const std::vector<Value>& operands);
std::vector<Value> attention_backward_reference(Graph& graph, const Attributes& attributes,
                                                const std::vector<Value>& operands);

}  // namespace tethys
