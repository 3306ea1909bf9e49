// AdamW (Loshchilov and Hutter, 2019), with torch's order of operations.
#pragma once

#include "ops/tensor.h"

namespace tethys {

class Config;

struct AdamW {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
};

AdamW adamw_of(const Config& config);

// What every parameter's update shares: scalars of at least float32.
struct AdamWStep {
  Tensor learning_rate;
  Tensor correction1;       // 1 − beta1^t
  Tensor root_correction2;  // √(1 − beta2^t)
};

// `step` s32[] counts from 0, so t = step + 1.
AdamWStep adamw_step(const AdamW& adamw, const Tensor& step, const Tensor& learning_rate);

// First and second moment of a parameter's gradients, of its shape.
struct Moments {
  Tensor m, v;
};

// The moments with one more gradient, in their own dtypes.
Moments adamw_moments(const AdamW& adamw, const Moments& before, const Tensor& gradient);

// The parameter after a step by its new moments, in its own dtype. `lr_scale` and `weight_decay` are scalars, or
// tensors that broadcast to the parameter.
Tensor adamw_parameter(const AdamW& adamw, const AdamWStep& step, const Tensor& before, const Moments& moments,
                       const Tensor& lr_scale, const Tensor& weight_decay);

}  // namespace tethys
