// The compositions of ordinary ops that say what the grouped products compute.
#pragma once

#include "ir/graph.h"

namespace tethys {

std::vector<Value> grouped_matmul_reference(Graph& graph, const Attributes& attributes,
                                            const std::vector<Value>& operands);
std::vector<Value> grouped_matmul_weights_reference(Graph& graph, const Attributes& attributes,
                                                    const std::vector<Value>& operands);

}  // namespace tethys
