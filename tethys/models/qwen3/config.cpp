#include "models/qwen3/config.h"

#include "models/transformer_options.h"

namespace tethys {

std::unique_ptr<LanguageModelConfig> qwen3_config(const Config& config) {
  const InitialValue initial = normal(0.02);
  const auto head_norm = [&] {
    return std::make_unique<RMSNormConfig>(head_dim_of(config), config.get_float("model.norm_eps"));
  };
  return transformer_of(config, initial, initial, [&](int64_t) {
    auto attention = attention_of(config, initial, initial);
    attention->q_norm = head_norm();
    attention->k_norm = head_norm();
    return block_of(config, std::move(attention), feed_forward_of(config, initial, initial, initial));
  });
}

}  // namespace tethys
