#include "optim/adamw.h"

#include <cmath>

#include "config/config.h"

namespace tethys {

AdamW adamw_of(const Config& config) {
  return {.beta1 = config.get_float("optimizer.beta1"),
          .beta2 = config.get_float("optimizer.beta2"),
          .eps = config.get_float("optimizer.eps")};
}

AdamWStep adamw_step(const AdamW& adamw, const Tensor& step, const Tensor& learning_rate) {
  const Tensor lr = cast(learning_rate, wide(learning_rate.dtype()));
  const Tensor t = cast(step, lr.dtype()) + 1;
  // 1 − β^t = −expm1(t · log β) = 2u / (1 + u) with u = tanh(−t/2 · log β): where β^t is near 1, the difference itself
  // would keep few of its digits.
  auto correction = [&](double beta) {
    if (beta == 0) return full_like(lr, 1);
    const Tensor u = tanh(t * (-0.5 * std::log(beta)));
    return 2 * u / (1 + u);
  };
  return {lr, correction(adamw.beta1), sqrt(correction(adamw.beta2))};
}

Moments adamw_moments(const AdamW& adamw, const Moments& before, const Tensor& gradient) {
  const Tensor g = cast(gradient, wide(gradient.dtype()));
  const Tensor m = cast(before.m, wide(before.m.dtype())) * adamw.beta1 + g * (1 - adamw.beta1);
  const Tensor v = cast(before.v, wide(before.v.dtype())) * adamw.beta2 + g * g * (1 - adamw.beta2);
  return {cast(m, before.m.dtype()), cast(v, before.v.dtype())};
}

Tensor adamw_parameter(const AdamW& adamw, const AdamWStep& step, const Tensor& before, const Moments& moments,
                       const Tensor& lr_scale, const Tensor& weight_decay) {
  const DType dtype = wide(before.dtype());
  const Tensor lr = step.learning_rate * lr_scale;
  const Tensor decayed = cast(before, dtype) * (1 - lr * weight_decay);
  const Tensor denominator = sqrt(cast(moments.v, dtype)) / step.root_correction2 + adamw.eps;
  const Tensor updated = decayed - lr / step.correction1 * (cast(moments.m, dtype) / denominator);
  return cast(updated, before.dtype());
}

}  // namespace tethys
