#include "optim/adamw.h"

#include "config/config.h"
#include "ops/shape/splat.h"

namespace tethys {

AdamW adamw_of(const Config& config) {
  return {.beta1 = config.get_float("optimizer.beta1"),
          .beta2 = config.get_float("optimizer.beta2"),
          .eps = config.get_float("optimizer.eps")};
}

AdamWStep adamw_step(const AdamW& adamw, const Tensor& step, const Tensor& learning_rate) {
  const Tensor t = cast(step, learning_rate.dtype()) + 1;
  auto correction = [&](double beta) { return 1 - power(full_like(t, beta), t); };
  return {learning_rate, correction(adamw.beta1), sqrt(correction(adamw.beta2))};
}

AdamWState adamw_update(const AdamW& adamw, const AdamWStep& step, const AdamWState& state, const Tensor& gradient,
                        const Tensor& lr_scale, const Tensor& weight_decay) {
  const DType dtype = wide(state.parameter.dtype());
  const Tensor p = cast(state.parameter, dtype);
  const Tensor g = cast(gradient, dtype);
  const Tensor lr = step.learning_rate * lr_scale;
  const Tensor m = cast(state.m, dtype) * adamw.beta1 + g * (1 - adamw.beta1);
  const Tensor v = cast(state.v, dtype) * adamw.beta2 + g * g * (1 - adamw.beta2);
  const Tensor decayed = p * (1 - lr * weight_decay);
  const Tensor denominator = sqrt(v) / step.root_correction2 + adamw.eps;
  const Tensor updated = decayed - lr / step.correction1 * (m / denominator);
  return {cast(updated, state.parameter.dtype()), cast(m, state.m.dtype()), cast(v, state.v.dtype())};
}

}  // namespace tethys
