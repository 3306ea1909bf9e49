// Transformer: a language model of embedding, blocks of attention and feed-forward with norms in front (Xiong et al.,
// On Layer Normalization in the Transformer Architecture, 2020), a norm, and projection with loss. An architecture is
// its config tree; what stands in the place of a block's feed-forward may be any FeedForwardConfig.
//
// Shapes: B batch, S sequence, D width.
#pragma once

#include <memory>
#include <vector>

#include "nn/attention.h"
#include "nn/embedding.h"
#include "nn/feed_forward.h"
#include "nn/language_model.h"
#include "nn/loss/projection_loss.h"
#include "nn/rms_norm.h"

namespace tethys {

struct TransformerBlockConfig : ConfigNode {
  std::unique_ptr<RMSNormConfig> attention_norm, ffn_norm;
  std::unique_ptr<SelfAttentionConfig> attention;
  std::unique_ptr<FeedForwardConfig> feed_forward;  // under its own child_name

  std::string_view type_name() const override { return "TransformerBlock"; }
  void visit(NodeVisitor& visitor) override;
};

struct TransformerConfig : LanguageModelConfig {
  std::unique_ptr<EmbeddingConfig> tok_embeddings;
  std::unique_ptr<RotaryConfig> rope;
  std::vector<std::unique_ptr<TransformerBlockConfig>> layers;
  std::unique_ptr<RMSNormConfig> norm;
  std::unique_ptr<ProjectionLossConfig> output;

  std::string_view type_name() const override { return "Transformer"; }
  void visit(NodeVisitor& visitor) override;
  std::unique_ptr<LanguageModel> build() const override;
};

class TransformerBlock : public Module {
 public:
  TransformerBlock(const TransformerBlockConfig& config, std::string name);
  Tensor forward(const Tensor& x_BSD, const Sequence& sequence);

 private:
  std::unique_ptr<RMSNorm> attention_norm_, ffn_norm_;
  std::unique_ptr<SelfAttention> attention_;
  std::unique_ptr<FeedForward> feed_forward_;
};

class Transformer : public LanguageModel {
 public:
  explicit Transformer(const TransformerConfig& config);
  Tensor loss_sum(const TokenRows& rows, const Tensor& labels_BS) override;
  Tensor hidden(const TokenRows& rows, KvCache* cache) override;
  Tensor project(const Tensor& hidden_BSD) override;
  std::vector<Module*> blocks() override;

 private:
  RotaryConfig rope_;
  std::unique_ptr<Embedding> tok_embeddings_;
  std::vector<std::unique_ptr<TransformerBlock>> layers_;
  std::unique_ptr<RMSNorm> norm_;
  std::unique_ptr<ProjectionLoss> output_;
};

}  // namespace tethys
