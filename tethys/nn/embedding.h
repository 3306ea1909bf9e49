// Embedding: a row of the table for each token id.
#pragma once

#include <memory>

#include "config/node.h"
#include "nn/module.h"

namespace tethys {

class Embedding;

struct EmbeddingConfig : ConfigNode {
  int64_t vocab_size = 1;
  int64_t dim = 1;
  InitialValue initial = normal(1);

  EmbeddingConfig() = default;
  EmbeddingConfig(int64_t vocab, int64_t size, InitialValue initial_table)
      : vocab_size(vocab), dim(size), initial(initial_table) {}
  std::string_view type_name() const override { return "Embedding"; }
  void visit(NodeVisitor& visitor) override;
  virtual std::unique_ptr<Embedding> build(std::string name) const;
};

class Embedding : public Module {
 public:
  Embedding(const EmbeddingConfig& config, std::string name);
  // tokens s32 [...] → [..., dim]
  virtual Tensor forward(const Tensor& tokens);
  const Parameter& weight() const { return weight_; }

 private:
  Parameter weight_;
};

}  // namespace tethys
