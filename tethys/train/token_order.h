// TokenOrder: where the tokens of a row stand on the ranks that share it. Each rank takes consecutive columns; which
// tokens stand there does not matter to a model, which reads positions and documents, but to the work: under a causal
// mask a rank with the front of a row has little to look at and one with its end much.
#pragma once

#include <cstdint>
#include <vector>

#include "values/host_tensor.h"

namespace tethys {

// The token of each column, so that each of `ranks` has one of 2 · ranks pieces from the front of the row and the one
// as far from its end (Grattafiori et al., The Llama 3 Herd of Models, 2024, section 3.3.2). `length` divides by 2 ·
// ranks.
std::vector<int64_t> head_tail_order(int64_t length, int64_t ranks);

// Column c of the result is column order[c]; rows of s32, [..., S]. An empty order is that in which they stand.
HostTensor in_order(HostTensor rows, const std::vector<int64_t>& order);

}  // namespace tethys
