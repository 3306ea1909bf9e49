// Balance of experts without a loss of its own: an expert that got fewer tokens than the mean is preferred a little
// more in the next batch (Wang et al., Auxiliary-Loss-Free Load Balancing, 2024).
#pragma once

#include "ops/tensor.h"

namespace tethys {

// The bias [..., E] after a batch in which the experts got these numbers of tokens. It moves by `coeff` towards the
// mean, and its own mean stays.
Tensor balanced(const Tensor& bias, const Tensor& counts_E, double coeff);

}  // namespace tethys
