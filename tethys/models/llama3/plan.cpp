#include "models/llama3/plan.h"

namespace tethys {

Plan llama_plan() {
  return {
      .parameters =
          {
              {"layers.*.attention.wq.weight", shard(0)},
              {"layers.*.attention.wk.weight", shard(0)},
              {"layers.*.attention.wv.weight", shard(0)},
              {"layers.*.attention.wo.weight", shard(1)},
              {"layers.*.feed_forward.w1.weight", shard(0)},
              {"layers.*.feed_forward.w3.weight", shard(0)},
              {"layers.*.feed_forward.w2.weight", shard(1)},
          },
      .modules =
          {
              {"layers.*.attention", replicate(), replicate()},
              {"layers.*.feed_forward", replicate(), replicate()},
          },
  };
}

}  // namespace tethys
