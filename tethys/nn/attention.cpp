#include "nn/attention.h"

#include <cmath>

namespace tethys {

void SelfAttentionConfig::visit(NodeVisitor& visitor) {
  visitor.field("n_heads", n_heads);
  visitor.field("n_kv_heads", n_kv_heads);
  visitor.field("head_dim", head_dim);
  if (kv_repeats != 1) visitor.field("kv_repeats", kv_repeats);
  visitor.child("wq", wq);
  visitor.child("wk", wk);
  visitor.child("wv", wv);
  visitor.child("wo", wo);
  visitor.child("q_norm", q_norm);
  visitor.child("k_norm", k_norm);
  visitor.child("kernel", kernel);
}

std::unique_ptr<SelfAttention> SelfAttentionConfig::build(std::string name) const {
  return std::make_unique<SelfAttention>(*this, std::move(name));
}

namespace {

std::unique_ptr<RMSNorm> build_if_there(const std::unique_ptr<RMSNormConfig>& config, std::string name) {
  return config == nullptr ? nullptr : config->build(std::move(name));
}

// Every head `times` times, its copies next to each other: so that heads can be cut into more parts than there are.
Tensor repeated(const Tensor& x_BSKE, int64_t times) {
  if (times == 1) return x_BSKE;
  const Dims& d = x_BSKE.dims();
  return reshape(broadcast_to(unsqueeze(x_BSKE, 3), {d[0], d[1], d[2], times, d[3]}), {d[0], d[1], d[2] * times, d[3]});
}

}  // namespace

void repeat_kv_heads(ConfigNode& tree, int64_t ranks) {
  for (const NamedNode& found : match_nodes(tree, "**.attention")) {
    auto& attention = dynamic_cast<SelfAttentionConfig&>(*found.node);
    if (attention.n_kv_heads % ranks != 0) attention.kv_repeats = ranks / attention.n_kv_heads;
  }
}

SelfAttention::SelfAttention(const SelfAttentionConfig& config, std::string name)
    : Module(name),
      n_heads_(config.n_heads),
      n_kv_heads_(config.n_kv_heads),
      head_dim_(config.head_dim),
      kv_repeats_(config.kv_repeats),
      wq_(config.wq->build(name + ".wq")),
      wk_(config.wk->build(name + ".wk")),
      wv_(config.wv->build(name + ".wv")),
      wo_(config.wo->build(name + ".wo")),
      q_norm_(build_if_there(config.q_norm, name + ".q_norm")),
      k_norm_(build_if_there(config.k_norm, name + ".k_norm")),
      attend_(config.kernel->build()) {
  for (Linear* linear : {wq_.get(), wk_.get(), wv_.get(), wo_.get()}) add(*linear);
  for (RMSNorm* norm : {q_norm_.get(), k_norm_.get()}) {
    if (norm != nullptr) add(*norm);
  }
}

// Shapes: B batch, S sequence, D width, H query heads, K key and value heads, E head size.
Tensor SelfAttention::forward(const Tensor& input, const Sequence& sequence) {
  const Scope scope = enter(input.graph());
  const Tensor x_BSD = entering(input);
  auto heads = [&](Linear& linear, int64_t count) {
    return reshape(linear.forward(x_BSD), {x_BSD.size(0), x_BSD.size(1), count, head_dim_});
  };
  auto turned = [&](const Tensor& x, RMSNorm* norm) {
    return rotate(norm == nullptr ? x : norm->forward(x), sequence.rotations);
  };
  const Tensor q_BSHE = tag(turned(heads(*wq_, n_heads_), q_norm_.get()), "q");
  const Tensor k_BSKE = tag(turned(heads(*wk_, n_kv_heads_), k_norm_.get()), "k");
  const Tensor v_BSKE = tag(heads(*wv_, n_kv_heads_), "v");
  AttentionOperands operands{
      q_BSHE, k_BSKE, v_BSKE, sequence.positions_BS, sequence.positions_BS, sequence.segments_BS, sequence.segments_BS};
  if (sequence.cache != nullptr) attend_to_cache(operands, *sequence.cache, sequence.layer);
  operands.k_BTKD = repeated(operands.k_BTKD, kv_repeats_);
  operands.v_BTKD = repeated(operands.v_BTKD, kv_repeats_);
  const Attention result = attend_(operands, 1 / std::sqrt(static_cast<double>(head_dim_)));
  tag(result.out_BSHD, "attention_out");
  tag(result.log_sum_exp_BHS, "attention_out");  // saved with it, or the kernel would run again for it
  return leaving(wo_->forward(reshape(result.out_BSHD, {x_BSD.size(0), x_BSD.size(1), n_heads_ * head_dim_})));
}

}  // namespace tethys
