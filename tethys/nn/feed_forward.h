// FeedForward: what a block computes of each token by itself. GatedFeedForward is w2(silu(w1 x) · w3 x) (Shazeer, GLU
// Variants Improve Transformer, 2020).
#pragma once

#include <memory>

#include "nn/linear.h"

namespace tethys {

class FeedForward : public Module {
 public:
  using Module::Module;
  virtual Tensor forward(const Tensor& x_BSD) = 0;
};

struct FeedForwardConfig : ConfigNode {
  // By which a block calls it, and thus its parameters.
  virtual std::string_view child_name() const { return "feed_forward"; }
  virtual std::unique_ptr<FeedForward> build(std::string name) const = 0;
};

struct GatedFeedForwardConfig : FeedForwardConfig {
  std::unique_ptr<LinearConfig> w1, w2, w3;

  std::string_view type_name() const override { return "GatedFeedForward"; }
  void visit(NodeVisitor& visitor) override;
  std::unique_ptr<FeedForward> build(std::string name) const override;
};

class GatedFeedForward : public FeedForward {
 public:
  GatedFeedForward(const GatedFeedForwardConfig& config, std::string name);
  Tensor forward(const Tensor& x_BSD) override;

 private:
  std::unique_ptr<Linear> w1_, w2_, w3_;
};

}  // namespace tethys
