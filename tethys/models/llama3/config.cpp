#include "models/llama3/config.h"

#include <cmath>

#include "models/llama3/model.h"

namespace tethys {
namespace {

// Most weights are so narrow that the cut at ±2 is never met; it is there in torchtitan, whose rule this is.
InitialValue narrow(double std) { return truncated_normal(std, 2); }

std::unique_ptr<LinearConfig> linear(int64_t in, int64_t out, double std) {
  return std::make_unique<LinearConfig>(in, out, narrow(std));
}

std::unique_ptr<LlamaBlockConfig> block(const Config& config, int64_t layer) {
  const int64_t dim = config.get_int("model.dim");
  const int64_t ffn_dim = config.get_int("model.ffn_dim");
  const double eps = config.get_float("model.norm_eps");
  const double std = 0.02;
  const double residual_std = std / std::sqrt(2.0 * static_cast<double>(layer + 1));

  auto attention = std::make_unique<SelfAttentionConfig>();
  attention->n_heads = config.get_int("model.n_heads");
  attention->n_kv_heads = config.get_int("model.n_kv_heads");
  attention->head_dim = head_dim_of(config);
  attention->wq = linear(dim, attention->n_heads * attention->head_dim, std);
  attention->wk = linear(dim, attention->n_kv_heads * attention->head_dim, std);
  attention->wv = linear(dim, attention->n_kv_heads * attention->head_dim, std);
  attention->wo = linear(attention->n_heads * attention->head_dim, dim, residual_std);

  auto feed_forward = std::make_unique<FeedForwardConfig>();
  feed_forward->w1 = linear(dim, ffn_dim, std);
  feed_forward->w2 = linear(ffn_dim, dim, residual_std);
  feed_forward->w3 = linear(dim, ffn_dim, residual_std);

  auto result = std::make_unique<LlamaBlockConfig>();
  result->attention_norm = std::make_unique<RMSNormConfig>(dim, eps);
  result->attention = std::move(attention);
  result->ffn_norm = std::make_unique<RMSNormConfig>(dim, eps);
  result->feed_forward = std::move(feed_forward);
  return result;
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

void LlamaBlockConfig::visit(NodeVisitor& visitor) {
  visitor.child("attention_norm", attention_norm);
  visitor.child("attention", attention);
  visitor.child("ffn_norm", ffn_norm);
  visitor.child("feed_forward", feed_forward);
}

void LlamaConfig::visit(NodeVisitor& visitor) {
  visitor.child("tok_embeddings", tok_embeddings);
  visitor.child("rope", rope);
  visitor.children("layers", layers);
  visitor.child("norm", norm);
  visitor.child("output", output);
}

std::unique_ptr<LanguageModel> LlamaConfig::build() const { return std::make_unique<Llama>(*this); }

std::unique_ptr<LanguageModelConfig> llama_config(const Config& config) {
  const int64_t dim = config.get_int("model.dim");
  const int64_t vocab = config.get_int("model.vocab_size");
  const bool tied = config.get_bool("model.tie_embeddings");
  const double output_std = 1 / std::sqrt(static_cast<double>(dim));
  const InitialValue output_initial = truncated_normal(output_std, 3 * output_std);

  auto result = std::make_unique<LlamaConfig>();
  result->tok_embeddings = std::make_unique<EmbeddingConfig>(vocab, dim, tied ? output_initial : normal(1));
  result->rope = rope(config);
  for (int64_t layer = 0; layer < config.get_int("model.n_layers"); ++layer) {
    result->layers.push_back(block(config, layer));
  }
  result->norm = std::make_unique<RMSNormConfig>(dim, config.get_float("model.norm_eps"));
  result->output = std::make_unique<ProjectionLossConfig>();
  result->output->dim = dim;
  result->output->vocab_size = vocab;
  result->output->initial = output_initial;
  result->output->tied = tied;
  return result;
}

}  // namespace tethys
