#include "models/transformer_plan.h"

namespace tethys {

Plan transformer_plan(const PlanOptions& options) {
  const AxisPlacement between = options.sequence_parallel ? shard(1) : replicate();
  const AxisPlacement kv = options.whole_kv_heads ? replicate() : shard(0);
  return {
      .parameters =
          {
              {"tok_embeddings.weight", shard(0), /*padded=*/true},
              {"layers.*.attention.wq.weight", shard(0)},
              {"layers.*.attention.wk.weight", kv},
              {"layers.*.attention.wv.weight", kv},
              {"layers.*.attention.wo.weight", shard(1)},
              {"layers.*.feed_forward.w1.weight", shard(0)},
              {"layers.*.feed_forward.w3.weight", shard(0)},
              {"layers.*.feed_forward.w2.weight", shard(1)},
              {"output.weight", shard(0), /*padded=*/true},
          },
      .modules =
          {
              {"tok_embeddings", std::nullopt, between},
              {"layers.*.attention", replicate(), between},
              {"layers.*.feed_forward", replicate(), between},
              {"output", replicate(), std::nullopt},
          },
  };
}

}  // namespace tethys
