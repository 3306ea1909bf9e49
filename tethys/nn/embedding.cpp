#include "nn/embedding.h"

namespace tethys {

void EmbeddingConfig::visit(NodeVisitor& visitor) {
  visitor.field("vocab_size", vocab_size);
  visitor.field("dim", dim);
  visitor.field("initial", to_string(initial));
}

std::unique_ptr<Embedding> EmbeddingConfig::build(std::string name) const {
  return std::make_unique<Embedding>(*this, std::move(name));
}

Embedding::Embedding(const EmbeddingConfig& config, std::string name)
    : Module(name), weight_(name + ".weight", {config.vocab_size, config.dim}, config.initial) {
  add(weight_);
}

Tensor Embedding::forward(const Tensor& input) {
  const Scope scope = enter(input.graph());
  const Tensor tokens = entering(input);
  return leaving(take(weight_.in(tokens.graph()), tokens));
}

}  // namespace tethys
