#include "train/balance.h"

namespace tethys {

Tensor balanced(const Tensor& bias, const Tensor& counts, double coeff) {
  if (coeff == 0) return bias;
  const Tensor delta = sign(mean(counts, {-1}, true) - counts) * coeff;
  return bias + cast(delta - mean(delta, {-1}, true), bias.dtype());
}

}  // namespace tethys
