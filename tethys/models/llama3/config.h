// The config tree of Llama 3 (Grattafiori et al., 2024): every flavour is a recipe's values of the options model.*.
#pragma once

#include <memory>
#include <vector>

#include "config/config.h"
#include "nn/attention.h"
#include "nn/embedding.h"
#include "nn/feed_forward.h"
#include "nn/language_model.h"
#include "nn/loss/projection_loss.h"
#include "nn/rms_norm.h"

namespace tethys {

struct LlamaBlockConfig : ConfigNode {
  std::unique_ptr<RMSNormConfig> attention_norm, ffn_norm;
  std::unique_ptr<SelfAttentionConfig> attention;
  std::unique_ptr<FeedForwardConfig> feed_forward;

  std::string_view type_name() const override { return "LlamaBlock"; }
  void visit(NodeVisitor& visitor) override;
};

struct LlamaConfig : LanguageModelConfig {
  std::unique_ptr<EmbeddingConfig> tok_embeddings;
  std::unique_ptr<RotaryConfig> rope;
  std::vector<std::unique_ptr<LlamaBlockConfig>> layers;
  std::unique_ptr<RMSNormConfig> norm;
  std::unique_ptr<ProjectionLossConfig> output;

  std::string_view type_name() const override { return "Llama"; }
  void visit(NodeVisitor& visitor) override;
  std::unique_ptr<LanguageModel> build() const override;
};

// The tree of the options' values, with Llama 3's initial values.
std::unique_ptr<LanguageModelConfig> llama_config(const Config& config);

}  // namespace tethys
