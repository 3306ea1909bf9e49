#include "models/qwen3/config.h"

#include <cmath>

#include "models/transformer_options.h"

namespace tethys {
namespace {

const InitialValue kInitial = normal(0.02);

std::unique_ptr<SelfAttentionConfig> attention(const Config& config, const InitialValue& out) {
  auto result = attention_of(config, kInitial, out);
  for (auto* head_norm : {&result->q_norm, &result->k_norm})
    *head_norm = std::make_unique<RMSNormConfig>(head_dim_of(config), config.get_float("model.norm_eps"));
  return result;
}

}  // namespace

std::unique_ptr<LanguageModelConfig> qwen3_config(const Config& config) {
  return transformer_of(config, kInitial, kInitial, [&](int64_t) {
    return block_of(config, attention(config, kInitial), feed_forward_of(config, kInitial, kInitial, kInitial));
  });
}

// What adds to the residual stream begins smaller the more layers there are.
std::unique_ptr<LanguageModelConfig> qwen3_moe_config(const Config& config) {
  const InitialValue out = normal(0.02 / std::sqrt(2.0 * static_cast<double>(config.get_int("model.n_layers"))));
  return transformer_of(config, kInitial, kInitial, [&](int64_t) {
    return block_of(config, attention(config, out), moe_of(config, kInitial, out));
  });
}

}  // namespace tethys
