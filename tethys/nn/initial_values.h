// The first values of a model's parameters, as a program: each is a function of the seed, the parameter's name and the
// element's index alone. So they are the same on any mesh, stacked or not, and each device makes only its own part.
#pragma once

#include <vector>

#include "nn/parameter_store.h"

namespace tethys {

// `seed` is u32[2]. A value per stored parameter, of its type and placement; padding is zero.
std::vector<Value> initial_values(Value seed, const std::vector<StoredParameter>& store);

}  // namespace tethys
