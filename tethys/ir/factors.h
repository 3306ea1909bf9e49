// Factors: the sharding rule of an op. Each dimension of each operand and result is an ordered product of factors; a
// factor that occurs in several tensors is the same loop in all of them.
//
//   dot           (b i k)(b k j) → (b i j)      k is reduced: sharding it makes the result Partial(sum)
//   merge         (b)(s)(d) → (b·s)(d)          only the major factor of a product may be sharded
//   slice of dim  a factor of kind Replicate    that dimension must be whole on every device
//
// transforms/propagate has one pass that serves every op by these.
#pragma once

#include <cstdint>
#include <vector>

#include "values/placement.h"

namespace tethys {

enum class FactorKind : uint8_t {
  Pass,       // sharded in operands, sharded in results
  Reduced,    // summed (or maxed) away: sharding it leaves results Partial
  Replicate,  // must be whole
};

struct Factor {
  FactorKind kind = FactorKind::Pass;
  int64_t size = 1;
  Reduction reduction = Reduction::Sum;  // of Reduced
  // Operands that are sharded along it are made whole as a matter of course: of Replicate always, of others along an
  // axis that another factor asks for.
  bool yields = false;
  // Operands that are sharded along it stay so along an axis that another factor takes: the op's local form goes and
  // gets what it needs, and leaves results that have the factor complete.
  bool exchanged = false;
};

// How an op treats operands that are Partial(sum).
enum class Linearity : uint8_t {
  No,      // resolve every Partial first
  Joint,   // linear in its operands together: all Partial alike, or none (add, select's branches, concatenate)
  Each,    // result i is linear in operand i alone, whatever the others are (optimization_barrier)
  Single,  // linear in each operand by itself, the others being whole or sharded alike (multiply, dot)
};

using DimFactors = std::vector<int>;            // of one dimension: indices into Factors::factors, major first
using TensorFactors = std::vector<DimFactors>;  // one per dimension

struct Factors {
  std::vector<Factor> factors;
  std::vector<TensorFactors> operands;
  std::vector<TensorFactors> results;
  Linearity linear = Linearity::No;
  // Operands that take part in it; empty means all. (dynamic_slice is linear in its data, not in its indices.)
  std::vector<bool> linear_operands;
};

// One factor per dimension, the same in `operands` operands and one result of shape `dims`.
Factors elementwise_factors(const Dims& dims, size_t operands, Linearity linear);

// Result i is laid out as operand i; different operands share no factor.
Factors pairwise_factors(const std::vector<TensorType>& operands, FactorKind kind, Linearity linear);

}  // namespace tethys
