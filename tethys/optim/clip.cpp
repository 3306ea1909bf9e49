#include "optim/clip.h"

namespace tethys {

Tensor global_norm(const std::vector<Tensor>& tensors) {
  require(!tensors.empty(), "the norm of no tensors");
  Tensor total;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor x = cast(tensors[i], wide(tensors[i].dtype()));
    const Tensor squares = sum(x * x);
    total = i == 0 ? squares : total + squares;
  }
  return sqrt(total);
}

Tensor clip_factor(const Tensor& norm, double max_norm) {
  const Tensor factor = max_norm / (norm + 1e-6);
  return minimum(factor, full_like(factor, 1));
}

}  // namespace tethys
