#include "nn/rms_norm.h"

namespace tethys {

void RMSNormConfig::visit(NodeVisitor& visitor) {
  visitor.field("dim", dim);
  visitor.field("eps", eps);
}

std::unique_ptr<RMSNorm> RMSNormConfig::build(std::string name) const {
  return std::make_unique<RMSNorm>(*this, std::move(name));
}

RMSNorm::RMSNorm(const RMSNormConfig& config, std::string name)
    : Module(name), eps_(config.eps), weight_(name + ".weight", {config.dim}, ones()) {
  add(weight_);
}

Tensor RMSNorm::forward(const Tensor& input) {
  const Scope scope = enter(input.graph());
  const Tensor x = cast(entering(input), wide(input.dtype()));
  const Tensor normalised = x * rsqrt(mean(x * x, {-1}, true) + eps_);
  return leaving(cast(normalised * weight_.in(x.graph(), x.dtype()), input.dtype()));
}

}  // namespace tethys
