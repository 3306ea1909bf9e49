// Linear: y = x wᵀ + b, with the weight as [out, in].
#pragma once

#include <memory>

#include "config/node.h"
#include "nn/module.h"

namespace tethys {

class Linear;

struct LinearConfig : ConfigNode {
  int64_t in = 1;
  int64_t out = 1;
  bool bias = false;
  InitialValue initial = normal(0.02);

  LinearConfig() = default;
  LinearConfig(int64_t in_size, int64_t out_size, InitialValue initial_weight)
      : in(in_size), out(out_size), initial(initial_weight) {}
  std::string_view type_name() const override { return "Linear"; }
  void visit(NodeVisitor& visitor) override;
  virtual std::unique_ptr<Linear> build(std::string name) const;
};

class Linear : public Module {
 public:
  Linear(const LinearConfig& config, std::string name);
  // x [..., in] → [..., out]
  virtual Tensor forward(const Tensor& x);

 protected:
  const Parameter& weight() const { return weight_; }

 private:
  Parameter weight_;
  std::optional<Parameter> bias_;
};

}  // namespace tethys
