// The parts of a transformer's config tree as the options model.* have them. An architecture puts them together, with
// its initial values and what it has besides.
//
//   std::unique_ptr<SelfAttentionConfig> attention = attention_of(config, normal(0.02), normal(0.01));
#pragma once

#include <functional>
#include <memory>

#include "config/config.h"
#include "nn/moe/moe.h"
#include "nn/transformer.h"

namespace tethys {

// `in` is the initial value of wq, wk and wv, `out` that of wo.
std::unique_ptr<SelfAttentionConfig> attention_of(const Config& config, const InitialValue& in,
                                                  const InitialValue& out);

std::unique_ptr<GatedFeedForwardConfig> feed_forward_of(const Config& config, const InitialValue& w1,
                                                        const InitialValue& w2, const InitialValue& w3);

// Experts and their router; `w1` is the initial value of w3 and of the router too.
std::unique_ptr<MoEConfig> moe_of(const Config& config, const InitialValue& w1, const InitialValue& w2);

// With its norms.
std::unique_ptr<TransformerBlockConfig> block_of(const Config& config, std::unique_ptr<SelfAttentionConfig> attention,
                                                 std::unique_ptr<FeedForwardConfig> feed_forward);

// The whole, with `block` of each layer.
using BlockOfLayer = std::function<std::unique_ptr<TransformerBlockConfig>(int64_t layer)>;
std::unique_ptr<TransformerConfig> transformer_of(const Config& config, const InitialValue& embedding,
                                                  const InitialValue& output, const BlockOfLayer& block);

}  // namespace tethys
