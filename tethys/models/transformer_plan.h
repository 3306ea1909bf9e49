// How the transformer of nn/transformer.h is made tensor-parallel (Shoeybi et al., Megatron-LM, 2019): the first
// matrices of attention and feed-forward by rows of their weights (heads, hidden units), the second by columns, so that
// each half of a block sums once over the ranks; embedding and output by words. Norms stay whole, and read a part of
// each row's tokens under sequence parallelism, or their rank's heads.
#pragma once

#include "nn/plan.h"

namespace tethys {

Plan transformer_plan(const PlanOptions& options);

// With experts in the place of the feed-forwards (nn/moe/moe.h): they are cut over the axes for experts, and their
// hidden units over tensor-parallel ranks that those axes leave. The router is whole.
Plan moe_transformer_plan(const PlanOptions& options);

}  // namespace tethys
