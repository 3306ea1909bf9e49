// What the generators share (splat.h): no operands, and the one result that the caller declares, which may be made in
// any placement.
#pragma once

#include "ir/graph.h"

namespace tethys {

inline std::vector<TensorType> infer_generator(const OpCall& call) {
  require(call.operands.empty() && call.declared.size() == 1, "a generator has no operands and one declared type");
  return call.declared;
}

inline Factors factors_generator(const OpCall& call) {
  return elementwise_factors(call.declared[0].dims, 0, Linearity::No);
}

}  // namespace tethys
