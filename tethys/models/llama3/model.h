// Llama 3: embedding, blocks of attention and feed-forward with norms in front, a norm, and projection with loss.
//
// Shapes: B batch, S sequence, D width.
#pragma once

#include <memory>
#include <vector>

#include "models/llama3/config.h"

namespace tethys {

class LlamaBlock : public Module {
 public:
  LlamaBlock(const LlamaBlockConfig& config, std::string name);
  Tensor forward(const Tensor& x_BSD, const Sequence& sequence);

 private:
  std::unique_ptr<RMSNorm> attention_norm_, ffn_norm_;
  std::unique_ptr<SelfAttention> attention_;
  std::unique_ptr<FeedForward> feed_forward_;
};

class Llama : public LanguageModel {
 public:
  explicit Llama(const LlamaConfig& config);
  Tensor loss_sum(const TokenRows& rows, const Tensor& labels_BS) override;
  Tensor hidden(const TokenRows& rows, KvCache* cache) override;
  Tensor project(const Tensor& hidden_BSD) override;
  std::vector<Module*> blocks() override;

 private:
  RotaryConfig rope_;
  std::unique_ptr<Embedding> tok_embeddings_;
  std::vector<std::unique_ptr<LlamaBlock>> layers_;
  std::unique_ptr<RMSNorm> norm_;
  std::unique_ptr<ProjectionLoss> output_;
};

}  // namespace tethys
