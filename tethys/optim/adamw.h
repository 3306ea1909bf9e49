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

struct AdamWState {
  Tensor parameter, m, v;  // first and second moment, of the parameter's shape
};

// One parameter's update. `lr_scale` and `weight_decay` are scalars, or tensors that broadcast to the parameter.
AdamWState adamw_update(const AdamW& adamw, const AdamWStep& step, const AdamWState& state, const Tensor& gradient,
                        const Tensor& lr_scale, const Tensor& weight_decay);

}  // namespace tethys
