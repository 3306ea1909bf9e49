#include "nn/loss/projection_loss.h"

namespace tethys {

void ProjectionLossConfig::visit(NodeVisitor& visitor) {
  visitor.field("dim", dim);
  visitor.field("vocab_size", vocab_size);
  visitor.field("tied", tied);
  if (!tied) visitor.field("initial", to_string(initial));
  visitor.child("kernel", kernel);
}

std::unique_ptr<ProjectionLoss> ProjectionLossConfig::build(std::string name, const Parameter& embedding) const {
  return std::make_unique<ProjectionLoss>(*this, std::move(name), embedding);
}

namespace {

const Parameter& weight_of(const ProjectionLossConfig& config, const std::string& name, std::optional<Parameter>& own,
                           const Parameter& embedding) {
  const Dims dims{config.vocab_size, config.dim};
  if (!config.tied) return own.emplace(name + ".weight", dims, config.initial);
  require(embedding.dims() == dims, "{} {} tied to {} {}", name, to_string(dims), embedding.name(),
          to_string(embedding.dims()));
  return embedding;
}

}  // namespace

ProjectionLoss::ProjectionLoss(const ProjectionLossConfig& config, std::string name, const Parameter& embedding)
    : Module(name),
      vocab_size_(config.vocab_size),
      weight_(weight_of(config, name, own_weight_, embedding)),
      loss_(config.kernel->build()) {
  if (own_weight_) add(*own_weight_);
}

Tensor ProjectionLoss::forward(const Tensor& input, const Tensor& labels_BS) {
  const Scope scope = enter(input.graph());
  const Tensor x_BSD = entering(input);
  return loss_(x_BSD, weight_.in(x_BSD.graph()), labels_BS, vocab_size_);
}

Tensor ProjectionLoss::logits(const Tensor& input) {
  const Scope scope = enter(input.graph());
  const Tensor x_BSD = entering(input);
  const Tensor logits_BSV = einsum("bsd,vd->bsv", x_BSD, weight_.in(x_BSD.graph()), wide(x_BSD.dtype()));
  return logits_BSV.size(-1) == vocab_size_ ? logits_BSV : slice(logits_BSV, -1, 0, vocab_size_);
}

}  // namespace tethys
