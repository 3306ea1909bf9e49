#include "nn/feed_forward.h"

namespace tethys {

void GatedFeedForwardConfig::visit(NodeVisitor& visitor) {
  visitor.child("w1", w1);
  visitor.child("w2", w2);
  visitor.child("w3", w3);
}

std::unique_ptr<FeedForward> GatedFeedForwardConfig::build(std::string name) const {
  return std::make_unique<GatedFeedForward>(*this, std::move(name));
}

GatedFeedForward::GatedFeedForward(const GatedFeedForwardConfig& config, std::string name)
    : FeedForward(name),
      w1_(config.w1->build(name + ".w1")),
      w2_(config.w2->build(name + ".w2")),
      w3_(config.w3->build(name + ".w3")) {
  for (Linear* linear : {w1_.get(), w2_.get(), w3_.get()}) add(*linear);
}

Tensor GatedFeedForward::forward(const Tensor& input) {
  const Scope scope = enter(input.graph());
  const Tensor x_BSD = entering(input);
  const Tensor gate_BSF = silu(w1_->forward(x_BSD));
  return leaving(w2_->forward(gate_BSF * w3_->forward(x_BSD)));
}

}  // namespace tethys
