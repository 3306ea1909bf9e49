// Placement: how a tensor lies on a mesh, one entry per mesh axis, as in DTensor.
//
//   Replicate    every device along the axis holds the whole
//   Shard(dim)   the dimension is cut into equal parts along the axis
//   Partial(op)  every device holds a summand (or a candidate for max, min); the value is their reduction
//
// A dimension that several axes shard is cut by them in mesh order, major first. A sharded dimension always divides by
// the axes that shard it: storage is padded where it would not (see redistribute).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "values/mesh.h"
#include "values/shape.h"

namespace tethys {

enum class Reduction : uint8_t { Sum, Max, Min };

struct AxisPlacement {
  enum class Kind : uint8_t { Replicate, Shard, Partial };
  Kind kind = Kind::Replicate;
  int64_t dim = 0;                       // of Shard
  Reduction reduction = Reduction::Sum;  // of Partial

  bool operator==(const AxisPlacement&) const = default;
  bool is_replicate() const { return kind == Kind::Replicate; }
  bool is_shard() const { return kind == Kind::Shard; }
  bool is_shard(int64_t d) const { return kind == Kind::Shard && dim == d; }
  bool is_partial() const { return kind == Kind::Partial; }
};

inline AxisPlacement replicate() { return {}; }
inline AxisPlacement shard(int64_t dim) { return {AxisPlacement::Kind::Shard, dim, Reduction::Sum}; }
inline AxisPlacement partial(Reduction op = Reduction::Sum) { return {AxisPlacement::Kind::Partial, 0, op}; }

using Placement = std::vector<AxisPlacement>;

// Replicate on every axis of the mesh.
Placement replicated(const Mesh& mesh);

bool has_partial(const Placement& placement);

// Into how many parts the placement cuts dimension `dim`.
int64_t shard_count(const Placement& placement, const Mesh& mesh, int64_t dim);

// The shape with every dimension rounded up to a multiple of the parts that it is cut into: how a tensor whose sizes do
// not divide is stored.
Dims padded_dims(const Dims& dims, const Placement& placement, const Mesh& mesh);

// The shape that one device holds. InternalError if a sharded dimension does not divide or does not exist.
Dims local_dims(const Dims& global, const Placement& placement, const Mesh& mesh);
TensorType local_type(const TensorType& global, const Placement& placement, const Mesh& mesh);

// The first index of each dimension that the device at `position` holds.
Dims local_offsets(const Dims& global, const Placement& placement, const Mesh& mesh, int64_t position);

// "(S(0),R,P(sum))"
std::string to_string(const Placement& placement);

// A global type and where it lies.
struct Layout {
  TensorType type;
  Placement placement;
  bool operator==(const Layout&) const = default;
};

}  // namespace tethys
