// Attention in blocks of queries and keys, in memory that grows with the length of the row: the composition for
// AttentionAttributes::block > 0. It computes what reference.h does, and its operands and results are the same.
#pragma once

#include "ir/graph.h"

namespace tethys {

std::vector<Value> chunked_attention(Graph& graph, const Attributes& attributes, const std::vector<Value>& operands);
std::vector<Value> chunked_attention_backward(Graph& graph, const Attributes& attributes,
                                              const std::vector<Value>& operands);

}  // namespace tethys
