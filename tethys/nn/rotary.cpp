#include "nn/rotary.h"

#include <cmath>
#include <numbers>

#include "ops/shape/splat.h"

namespace tethys {

void RotaryConfig::visit(NodeVisitor& visitor) {
  visitor.field("head_dim", head_dim);
  visitor.field("theta", theta);
  visitor.field("factor", factor);
  visitor.field("low", low);
  visitor.field("high", high);
  visitor.field("original_length", original_length);
}

std::vector<double> inverse_frequencies(const RotaryConfig& config) {
  require(config.head_dim % 2 == 0, "rotary embedding of a head of {}", config.head_dim);
  std::vector<double> result;
  for (int64_t i = 0; i < config.head_dim; i += 2) {
    const double frequency = std::pow(config.theta, -static_cast<double>(i) / static_cast<double>(config.head_dim));
    // Full turns within the original length: few are slowed in full, many not at all, between them in proportion.
    const double turns = static_cast<double>(config.original_length) * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - config.low) / (config.high - config.low), 0.0, 1.0);
    result.push_back(frequency * kept + frequency / config.factor * (1 - kept));
  }
  return result;
}

Rotations rotations(const RotaryConfig& config, const Tensor& positions_BS, DType dtype) {
  const std::vector<double> frequencies = inverse_frequencies(config);
  const TensorType type{wide(dtype), {static_cast<int64_t>(frequencies.size())}};
  const Tensor frequencies_E = constant(positions_BS.graph(), HostTensor::from_doubles(type, frequencies));
  const Tensor angles_BSE = cast(unsqueeze(positions_BS, -1), type.dtype) * frequencies_E;
  return {cosine(angles_BSE), sine(angles_BSE)};
}

Tensor rotate(const Tensor& x_BSHD, const Rotations& rotations) {
  const int64_t half = x_BSHD.size(-1) / 2;
  const Tensor cos = unsqueeze(rotations.cos_BSE, 2);
  const Tensor sin = unsqueeze(rotations.sin_BSE, 2);
  const Tensor x = cast(x_BSHD, cos.dtype());
  const Tensor a = slice(x, -1, 0, half);
  const Tensor b = slice(x, -1, half, 2 * half);
  return cast(concatenate({a * cos - b * sin, b * cos + a * sin}, -1), x_BSHD.dtype());
}

}  // namespace tethys
