// The global gradient norm and clipping by it, as in torch's clip_grad_norm_.
#pragma once

#include <vector>

#include "ops/tensor.h"

namespace tethys {

// √ of the sum of all squares of all tensors, in at least float32. Tensors of one placement should be neighbours: their
// sums then meet before they cross devices.
Tensor global_norm(const std::vector<Tensor>& tensors);

// What gradients of that norm are multiplied by: min(1, max_norm / (norm + 1e-6)).
Tensor clip_factor(const Tensor& norm, double max_norm);

}  // namespace tethys
