#include "nn/transformer.h"

namespace tethys {

void TransformerBlockConfig::visit(NodeVisitor& visitor) {
  visitor.child("attention_norm", attention_norm);
  visitor.child("attention", attention);
  visitor.child("ffn_norm", ffn_norm);
  visitor.child(feed_forward->child_name(), feed_forward);
}

void TransformerConfig::visit(NodeVisitor& visitor) {
  visitor.child("tok_embeddings", tok_embeddings);
  visitor.child("rope", rope);
  visitor.children("layers", layers);
  visitor.child("norm", norm);
  visitor.child("output", output);
}

std::unique_ptr<LanguageModel> TransformerConfig::build() const { return std::make_unique<Transformer>(*this); }

TransformerBlock::TransformerBlock(const TransformerBlockConfig& config, std::string name)
    : Module(name),
      attention_norm_(config.attention_norm->build(name + ".attention_norm")),
      ffn_norm_(config.ffn_norm->build(name + ".ffn_norm")),
      attention_(config.attention->build(name + ".attention")),
      feed_forward_(config.feed_forward->build(fmt::format("{}.{}", name, config.feed_forward->child_name()))) {
  add(*attention_norm_);
  add(*attention_);
  add(*ffn_norm_);
  add(*feed_forward_);
}

Tensor TransformerBlock::forward(const Tensor& input, const Sequence& sequence) {
  const Scope scope = enter(input.graph());
  const Tensor x_BSD = tag(entering(input), "layer_input");
  const Tensor h_BSD = x_BSD + attention_->forward(attention_norm_->forward(x_BSD), sequence);
  const Tensor mlp_in = tag(ffn_norm_->forward(h_BSD), "mlp_in");
  return leaving(h_BSD + tag(feed_forward_->forward(mlp_in), "mlp_out"));
}

Transformer::Transformer(const TransformerConfig& config)
    : rope_(*config.rope), tok_embeddings_(config.tok_embeddings->build("tok_embeddings")) {
  add(*tok_embeddings_);
  for (size_t i = 0; i < config.layers.size(); ++i) {
    layers_.push_back(std::make_unique<TransformerBlock>(*config.layers[i], fmt::format("layers.{}", i)));
    add(*layers_.back());
  }
  norm_ = config.norm->build("norm");
  output_ = config.output->build("output", tok_embeddings_->weight());
  add(*norm_);
  add(*output_);
}

Tensor Transformer::hidden(const TokenRows& rows, KvCache* cache) {
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

Tensor Transformer::loss_sum(const TokenRows& rows, const Tensor& labels_BS) {
  return output_->forward(hidden(rows, nullptr), labels_BS);
}

Tensor Transformer::project(const Tensor& hidden_BSD) { return output_->logits(hidden_BSD); }

std::vector<Module*> Transformer::blocks() {
  std::vector<Module*> result;
  for (const auto& layer : layers_) result.push_back(layer.get());
  return result;
}

}  // namespace tethys
