#include "nn/linear.h"

#include "ops/dot/dot.h"

namespace tethys {

void LinearConfig::visit(NodeVisitor& visitor) {
  visitor.field("in", in);
  visitor.field("out", out);
  visitor.field("bias", bias);
  visitor.field("initial", to_string(initial));
}

std::unique_ptr<Linear> LinearConfig::build(std::string name) const {
  return std::make_unique<Linear>(*this, std::move(name));
}

Linear::Linear(const LinearConfig& config, std::string name)
    : Module(name), weight_(name + ".weight", {config.out, config.in}, config.initial) {
  add(weight_);
  if (!config.bias) return;
  bias_.emplace(name + ".bias", Dims{config.out}, InitialValue{});
  add(*bias_);
}

Tensor Linear::forward(const Tensor& input) {
  const Scope scope = enter(input.graph());
  const Tensor x = entering(input);
  const Tensor w = weight_.in(x.graph());
  Tensor y = dot(x.value(), w.value(), {{}, {}, {x.rank() - 1}, {1}});
  if (bias_) y = y + bias_->in(x.graph());
  return leaving(y);
}

}  // namespace tethys
