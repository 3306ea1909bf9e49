#include "ops/samples.h"

#include <cmath>

namespace tethys {

HostTensor sample_tensor(Dims dims, int seed, double low, double high, DType dtype) {
  const int64_t count = element_count(dims);
  std::vector<double> values;
  double fraction = 0.5;
  for (int64_t i = 0; i < count; ++i) {
    // Multiples of irrational numbers, modulo one: equally spread, never equal.
    fraction = std::fmod(static_cast<double>(i + 1) * 0.6180339887498949 + seed * 0.7548776662466927, 1.0);
    values.push_back(is_floating(dtype) ? low + (high - low) * fraction : std::floor(low + (high - low) * fraction));
  }
  return HostTensor::from_doubles({dtype, std::move(dims)}, values);
}

Sample plain_sample(std::string name, std::vector<HostTensor> operands, Attributes attributes,
                    std::vector<TensorType> declared) {
  return {std::move(name), std::move(operands), std::move(attributes), std::move(declared), {}};
}

}  // namespace tethys
