#include "train/balance.h"

namespace tethys {

Tensor balanced(const Tensor& bias, const Tensor& counts_E, double coeff) {
  if (coeff == 0) return bias;
  const Tensor counts = cast(counts_E, bias.dtype());
  const Tensor delta = sign(mean(counts, {-1}, true) - counts) * coeff;
  return bias + (delta - mean(delta, {-1}, true));
}

}  // namespace tethys
