// redistribute: the same value in another placement. All communication between devices begins as this op; localise
// turns it into collectives. On one device it is a cast at most.
//
// Sizes that do not divide are padded here and nowhere else: the result's shape may be longer than the operand's (zeros
// at the end) or shorter (cut off), so that a parameter of 1,003 rows is stored as 1,004 over 4 devices.
#pragma once

#include "ir/graph.h"

namespace tethys {

struct RedistributeAttributes {
  // Where to; absent: to the placement of the second operand, of which nothing else is used.
  std::optional<Placement> target;
  // The dtype in which the cotangent is handed back; absent: that of the operand.
  std::optional<DType> backward_dtype;
  // Whether the backward may keep the result. False for gathered parameters, which are gathered again.
  bool keep = true;
  // Whether the cotangent goes back as it is, for whoever takes it to reduce and to move: where gradients are added up
  // over microbatches before they travel.
  bool unreduced = false;
  bool operator==(const RedistributeAttributes&) const = default;
};
// Whether it brings a parameter to where and how it is used: those alone say how a gradient comes back.
inline bool is_parametrization(const RedistributeAttributes& a) { return a.backward_dtype.has_value(); }
std::string describe(const RedistributeAttributes& attributes);
const RedistributeAttributes& redistribute_attributes(const Attributes& attributes);

// `type` is that of the result: its dtype, and its shape up to padding.
Value redistribute(Value x, TensorType type, RedistributeAttributes attributes);
Value redistribute(Value x, Placement target);

// x, padded or cut to the shape of `like`, where `like` lies (whole where that is Partial). Keeps x's dtype.
Value redistribute_like(Value x, Value like);

}  // namespace tethys
