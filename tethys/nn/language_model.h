// LanguageModel: what training, validation and generation ask of a model of any architecture, and the root of the
// config tree from which it is built.
//
//   std::unique_ptr<LanguageModel> model = llama_config(config)->build();
//   Tensor loss = model->loss_sum({tokens, positions, segments}, labels);
#pragma once

#include <memory>
#include <vector>

#include "config/node.h"
#include "nn/kv_cache.h"
#include "nn/layers.h"

namespace tethys {

// Rows of tokens; each s32 [B, S]. Positions count from 0 in every document of a row, and segments number them.
struct TokenRows {
  Tensor tokens_BS, positions_BS, segments_BS;
};

class LanguageModel : public Module {
 public:
  LanguageModel() : Module("") {}

  // The sum of the cross-entropy over labels other than kIgnoredLabel; at least float32.
  virtual Tensor loss_sum(const TokenRows& rows, const Tensor& labels_BS) = 0;
  // What the output projection reads, [B, S, D]. With a cache, the rows go on where it ends and are added to it; then
  // layers are not scanned and nothing is a unit of recomputation.
  virtual Tensor hidden(const TokenRows& rows, KvCache* cache = nullptr) = 0;
  // The output projection: [B, S, V] in at least float32.
  virtual Tensor project(const Tensor& hidden_BSD) = 0;
  Tensor logits(const TokenRows& rows) { return project(hidden(rows)); }
  // The stack of blocks that run_layers runs.
  virtual std::vector<Module*> blocks() = 0;

  void set_layer_options(LayerOptions options) { layer_options_ = options; }
  const LayerOptions& layer_options() const { return layer_options_; }

 private:
  LayerOptions layer_options_;
};

struct LanguageModelConfig : ConfigNode {
  virtual std::unique_ptr<LanguageModel> build() const = 0;
};

}  // namespace tethys
