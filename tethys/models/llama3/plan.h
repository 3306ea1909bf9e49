// How Llama 3 is made tensor-parallel (Shoeybi et al., Megatron-LM, 2019): the first matrices of attention and
// feed-forward by rows of their weights (heads, hidden units), the second by columns, so that each half of a block sums
// once over the ranks. Embedding, norms and output stay whole.
#pragma once

#include "nn/plan.h"

namespace tethys {

Plan llama_plan();

}  // namespace tethys
