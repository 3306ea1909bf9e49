// Attention: causal self-attention with rotary positions and grouped key and value heads. Queries and keys may be
// normalised, each head by itself, before they turn (Henry et al., Query-Key Normalization, 2020).
#pragma once

#include <memory>

#include "kernels/attention/config.h"
#include "nn/linear.h"
#include "nn/rms_norm.h"
#include "nn/sequence.h"

namespace tethys {

class SelfAttention;

struct SelfAttentionConfig : ConfigNode {
  int64_t n_heads = 1;
  int64_t n_kv_heads = 1;
  int64_t head_dim = 1;
  int64_t kv_repeats = 1;  // how often each key and value head stands in the product with the queries
  std::unique_ptr<LinearConfig> wq, wk, wv, wo;
  std::unique_ptr<RMSNormConfig> q_norm, k_norm;  // over one head; absent in models without them
  std::unique_ptr<AttentionKernelConfig> kernel = std::make_unique<AttentionKernelConfig>();

  std::string_view type_name() const override { return "SelfAttention"; }
  void visit(NodeVisitor& visitor) override;
  virtual std::unique_ptr<SelfAttention> build(std::string name) const;
};

// For attention over `ranks` that share its heads: where they are more than its key and value heads, each of those
// stands once for every rank that has it. Does so in all attention of a tree.
void repeat_kv_heads(ConfigNode& tree, int64_t ranks);

class SelfAttention : public Module {
 public:
  SelfAttention(const SelfAttentionConfig& config, std::string name);
  virtual Tensor forward(const Tensor& x_BSD, const Sequence& sequence);

 private:
  int64_t n_heads_, n_kv_heads_, head_dim_, kv_repeats_;
  std::unique_ptr<Linear> wq_, wk_, wv_, wo_;
  std::unique_ptr<RMSNorm> q_norm_, k_norm_;  // or null
  AttentionKernel attend_;
};

}  // namespace tethys
