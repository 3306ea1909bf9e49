#include "ir/factors.h"

namespace tethys {

Factors elementwise_factors(const Dims& dims, size_t operands, Linearity linear) {
  Factors f;
  TensorFactors tensor;
  for (int64_t d : dims) {
    tensor.push_back({static_cast<int>(f.factors.size())});
    f.factors.push_back({FactorKind::Pass, d, Reduction::Sum});
  }
  f.operands.assign(operands, tensor);
  f.results = {tensor};
  f.linear = linear;
  return f;
}

Factors pairwise_factors(const std::vector<TensorType>& operands, FactorKind kind, Linearity linear) {
  Factors f;
  for (const TensorType& type : operands) {
    TensorFactors tensor;
    for (int64_t d : type.dims) {
      tensor.push_back({static_cast<int>(f.factors.size())});
      f.factors.push_back({kind, d, Reduction::Sum});
    }
    f.operands.push_back(tensor);
  }
  f.results = f.operands;
  f.linear = linear;
  return f;
}

}  // namespace tethys
