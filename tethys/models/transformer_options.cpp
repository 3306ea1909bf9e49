#include "models/transformer_options.h"

#include "base/error.h"

namespace tethys {
namespace {

std::unique_ptr<RMSNormConfig> norm(const Config& config) {
  return std::make_unique<RMSNormConfig>(config.get_int("model.dim"), config.get_float("model.norm_eps"));
}

std::unique_ptr<RotaryConfig> rope(const Config& config) {
  auto result = std::make_unique<RotaryConfig>();
  result->head_dim = head_dim_of(config);
  result->theta = config.get_float("model.rope_theta");
  result->factor = config.get_float("model.rope_scaling_factor");
  result->low = config.get_float("model.rope_scaling_low");
  result->high = config.get_float("model.rope_scaling_high");
  result->original_length = config.get_int("model.rope_scaling_original_length");
  return result;
}

}  // namespace

std::unique_ptr<SelfAttentionConfig> attention_of(const Config& config, const InitialValue& in,
                                                  const InitialValue& out) {
  const int64_t dim = config.get_int("model.dim");
  auto result = std::make_unique<SelfAttentionConfig>();
  result->n_heads = config.get_int("model.n_heads");
  result->n_kv_heads = config.get_int("model.n_kv_heads");
  result->head_dim = head_dim_of(config);
  const int64_t width = result->n_heads * result->head_dim, kv_width = result->n_kv_heads * result->head_dim;
  result->wq = std::make_unique<LinearConfig>(dim, width, in);
  result->wk = std::make_unique<LinearConfig>(dim, kv_width, in);
  result->wv = std::make_unique<LinearConfig>(dim, kv_width, in);
  result->wo = std::make_unique<LinearConfig>(width, dim, out);
  return result;
}

std::unique_ptr<GatedFeedForwardConfig> feed_forward_of(const Config& config, const InitialValue& w1,
                                                        const InitialValue& w2, const InitialValue& w3) {
  if (config.get_int("model.n_experts") > 0) {
    user_error("{}: {} has one feed-forward for all tokens; take an architecture with experts, or 0",
               config.cite("model.n_experts"), config.cite("model.name"));
  }
  const int64_t dim = config.get_int("model.dim"), ffn_dim = config.get_int("model.ffn_dim");
  auto result = std::make_unique<GatedFeedForwardConfig>();
  result->w1 = std::make_unique<LinearConfig>(dim, ffn_dim, w1);
  result->w2 = std::make_unique<LinearConfig>(ffn_dim, dim, w2);
  result->w3 = std::make_unique<LinearConfig>(dim, ffn_dim, w3);
  return result;
}

std::unique_ptr<MoEConfig> moe_of(const Config& config, const InitialValue& w1, const InitialValue& w2) {
  const int64_t dim = config.get_int("model.dim"), experts = config.get_int("model.n_experts");
  if (experts == 0) {
    user_error("{}: {} is made of experts; give their number, such as 64", config.cite("model.n_experts"),
               config.cite("model.name"));
  }
  auto result = std::make_unique<MoEConfig>();
  result->router = std::make_unique<RouterConfig>();
  result->router->dim = dim;
  result->router->experts = experts;
  result->router->top_k = config.get_int("model.experts_per_token");
  result->router->initial = w1;
  result->experts = std::make_unique<ExpertsConfig>();
  result->experts->dim = dim;
  result->experts->hidden = config.get_int("model.expert_ffn_dim");
  result->experts->experts = experts;
  result->experts->w1 = result->experts->w3 = w1;
  result->experts->w2 = w2;
  return result;
}

std::unique_ptr<TransformerBlockConfig> block_of(const Config& config, std::unique_ptr<SelfAttentionConfig> attention,
                                                 std::unique_ptr<FeedForwardConfig> feed_forward) {
  auto result = std::make_unique<TransformerBlockConfig>();
  result->attention_norm = norm(config);
  result->attention = std::move(attention);
  result->ffn_norm = norm(config);
  result->feed_forward = std::move(feed_forward);
  return result;
}

std::unique_ptr<TransformerConfig> transformer_of(const Config& config, const InitialValue& embedding,
                                                  const InitialValue& output, const BlockOfLayer& block) {
  const int64_t dim = config.get_int("model.dim"), vocab = config.get_int("model.vocab_size");
  auto result = std::make_unique<TransformerConfig>();
  result->tok_embeddings = std::make_unique<EmbeddingConfig>(vocab, dim, embedding);
  result->rope = rope(config);
  for (int64_t layer = 0; layer < config.get_int("model.n_layers"); ++layer) result->layers.push_back(block(layer));
  result->norm = norm(config);
  result->output = std::make_unique<ProjectionLossConfig>();
  result->output->dim = dim;
  result->output->vocab_size = vocab;
  result->output->initial = output;
  result->output->tied = config.get_bool("model.tie_embeddings");
  return result;
}

}  // namespace tethys
