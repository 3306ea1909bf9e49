// optimization_barrier: the same values, which the compiler may neither reorder across nor compute again before.
#pragma once

#include <span>

#include "ir/graph.h"

namespace tethys {

std::vector<Value> optimization_barrier(std::span<const Value> values);

}  // namespace tethys
