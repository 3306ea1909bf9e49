#include "models/llama3/model.h"

namespace tethys {

LlamaBlock::LlamaBlock(const LlamaBlockConfig& config, std::string name)
    : Module(name),
      attention_norm_(config.attention_norm->build(name + ".attention_norm")),
      ffn_norm_(config.ffn_norm->build(name + ".ffn_norm")),
      attention_(config.attention->build(name + ".attention")),
      feed_forward_(config.feed_forward->build(name + ".feed_forward")) {
  add(*attention_norm_);
  add(*attention_);
  add(*ffn_norm_);
  add(*feed_forward_);
}

Tensor LlamaBlock::forward(const Tensor& input, const Sequence& sequence) {
  const Scope scope = enter(input.graph());
  const Tensor x_BSD = tag(entering(input), "layer_input");
  const Tensor h_BSD = x_BSD + attention_->forward(attention_norm_->forward(x_BSD), sequence);
  const Tensor mlp_in = tag(ffn_norm_->forward(h_BSD), "mlp_in");
  return leaving(h_BSD + tag(feed_forward_->forward(mlp_in), "mlp_out"));
}

Llama::Llama(const LlamaConfig& config)
    : rope_(*config.rope), tok_embeddings_(config.tok_embeddings->build("tok_embeddings")) {
  add(*tok_embeddings_);
  for (size_t i = 0; i < config.layers.size(); ++i) {
    layers_.push_back(std::make_unique<LlamaBlock>(*config.layers[i], fmt::format("layers.{}", i)));
    add(*layers_.back());
  }
  norm_ = config.norm->build("norm");
  output_ = config.output->build("output", tok_embeddings_->weight());
  add(*norm_);
  add(*output_);
}

Tensor Llama::hidden(const TokenRows& rows, KvCache* cache) {
  require(cache == nullptr || (!layer_options().scan && !layer_options().checkpoint), "a cache in layers of regions");
  const Tensor x_BSD = tok_embeddings_->forward(rows.tokens_BS);
  const Sequence sequence{.positions_BS = rows.positions_BS,
                          .segments_BS = rows.segments_BS,
                          .rotations = rotations(rope_, rows.positions_BS, x_BSD.dtype())};
  const auto run = [&](size_t layer, const Tensor& x, const std::vector<Tensor>& constants) {
    Sequence block = Sequence::unpack(constants);
    block.cache = cache;
    block.layer = layer;
    return layers_[layer]->forward(x, block);
  };
  return norm_->forward(run_layers(blocks(), x_BSD, sequence.pack(), layer_options(), run));
}

Tensor Llama::loss_sum(const TokenRows& rows, const Tensor& labels_BS) {
  return output_->forward(hidden(rows, nullptr), labels_BS);
}

Tensor Llama::project(const Tensor& hidden_BSD) { return output_->logits(hidden_BSD); }

std::vector<Module*> Llama::blocks() {
  std::vector<Module*> result;
  for (const auto& layer : layers_) result.push_back(layer.get());
  return result;
}

}  // namespace tethys
