// What is saved is finite. An update may overflow in a step whose loss was finite still; saved, it would take the place
// of the last checkpoint that can be trained on.
//
//   checkpoints.save(state, finite_only(std::move(pieces), 12), keep);      // NotFiniteError in place of a checkpoint
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "checkpoint/store.h"

namespace tethys {

// A loss, a gradient norm or an updated state that is not finite.
class NotFiniteError : public Error {
 public:
  using Error::Error;
};

// Whether no value of `bytes` is infinite or NaN; of whole numbers none is. Not aligned to the element.
bool all_finite(DType dtype, std::span<const std::byte> bytes);

// The pieces of the state after `step`; reading one that is not finite throws a NotFiniteError that names it.
std::vector<PieceSource> finite_only(std::vector<PieceSource> pieces, int64_t step);

}  // namespace tethys
