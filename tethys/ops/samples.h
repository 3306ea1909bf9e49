// What sample inputs are made of: small tensors of numbers that look random and are the same everywhere.
#pragma once

#include "ir/op_record.h"

namespace tethys {

// Values in [low, high), a function of the shape and `seed` alone, in float64 unless said.
HostTensor sample_tensor(Dims dims, int seed, double low = -1, double high = 1, DType dtype = DType::F64);

// A sample without regions.
Sample plain_sample(std::string name, std::vector<HostTensor> operands, Attributes attributes = {},
                    std::vector<TensorType> declared = {});

}  // namespace tethys
