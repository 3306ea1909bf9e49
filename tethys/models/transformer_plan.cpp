#include "models/transformer_plan.h"

namespace tethys {
namespace {

AxisPlacement between_layers(const PlanOptions& options) { return options.sequence_parallel ? shard(1) : replicate(); }

// All but the feed-forwards.
Plan plan_of_rest(const PlanOptions& options) {
  const AxisPlacement kv = options.whole_kv_heads ? replicate() : shard(0);
  return {
      .parameters =
          {
              {"tok_embeddings.weight", shard(0), /*padded=*/true},
              {"layers.*.attention.wq.weight", shard(0)},
              {"layers.*.attention.wk.weight", kv},
              {"layers.*.attention.wv.weight", kv},
              {"layers.*.attention.wo.weight", shard(1)},
              {"output.weight", shard(0), /*padded=*/true},
          },
      .modules =
          {
              {"tok_embeddings", std::nullopt, between_layers(options)},
              {"layers.*.attention", replicate(), between_layers(options)},
              {"output", replicate(), std::nullopt},
          },
  };
}

ParameterRow expert_row(const char* glob, int64_t hidden_dim) {
  return {.glob = glob, .placement = shard(hidden_dim), .over_experts = shard(0)};
}

}  // namespace

Plan transformer_plan(const PlanOptions& options) {
  Plan plan = plan_of_rest(options);
  plan.parameters.push_back({"layers.*.feed_forward.w1.weight", shard(0)});
  plan.parameters.push_back({"layers.*.feed_forward.w3.weight", shard(0)});
  plan.parameters.push_back({"layers.*.feed_forward.w2.weight", shard(1)});
  plan.modules.push_back({"layers.*.feed_forward", replicate(), between_layers(options)});
  return plan;
}

Plan moe_transformer_plan(const PlanOptions& options) {
  Plan plan = plan_of_rest(options);
  plan.parameters.push_back(expert_row("layers.*.moe.experts.w1", 1));
  plan.parameters.push_back(expert_row("layers.*.moe.experts.w3", 1));
  plan.parameters.push_back(expert_row("layers.*.moe.experts.w2", 2));
  const AxisPlacement between = between_layers(options);
  plan.modules.push_back({"layers.*.moe", options.experts_over_tensor ? between : replicate(), between});
  return plan;
}

}  // namespace tethys
