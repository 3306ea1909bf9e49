// FeedForward: w2(silu(w1 x) · w3 x) (Shazeer, GLU Variants Improve Transformer, 2020).
#pragma once

#include <memory>

#include "nn/linear.h"

namespace tethys {

class FeedForward;

struct FeedForwardConfig : ConfigNode {
  std::unique_ptr<LinearConfig> w1, w2, w3;

  std::string_view type_name() const override { return "FeedForward"; }
  void visit(NodeVisitor& visitor) override;
  virtual std::unique_ptr<FeedForward> build(std::string name) const;
};

class FeedForward : public Module {
 public:
  FeedForward(const FeedForwardConfig& config, std::string name);
  virtual Tensor forward(const Tensor& x_BSD);

 private:
  std::unique_ptr<Linear> w1_, w2_, w3_;
};

}  // namespace tethys
