// RMSNorm: x / √(mean(x²) + eps) · weight over the last axis, computed in at least float32 (Zhang and Sennrich, 2019).
#pragma once

#include <memory>

#include "config/node.h"
#include "nn/module.h"

namespace tethys {

class RMSNorm;

struct RMSNormConfig : ConfigNode {
  int64_t dim = 1;
  double eps = 1e-5;

  RMSNormConfig() = default;
  RMSNormConfig(int64_t size, double epsilon) : dim(size), eps(epsilon) {}
  std::string_view type_name() const override { return "RMSNorm"; }
  void visit(NodeVisitor& visitor) override;
  virtual std::unique_ptr<RMSNorm> build(std::string name) const;
};

class RMSNorm : public Module {
 public:
  RMSNorm(const RMSNormConfig& config, std::string name);
  virtual Tensor forward(const Tensor& x);

 private:
  double eps_;
  Parameter weight_;
};

}  // namespace tethys
