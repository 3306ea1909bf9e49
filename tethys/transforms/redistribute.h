// What a redistribute node is on one device: collectives, slices, pads and casts that take the local part of a value to
// its part in another placement.
#pragma once

#include "ir/graph.h"
#include "values/mesh.h"

namespace tethys {

// A global type and where it lies.
struct Layout {
  TensorType type;
  Placement placement;
  bool operator==(const Layout&) const = default;
};

// `local` is this device's part of a value at `from`; returns its part at `to`. The shapes may differ by zeros at the
// end of dimensions. Sums are taken in the wider of the two dtypes, everything else travels in the narrower.
Value redistribute_local(Value local, const Layout& from, const Layout& to, const Mesh& mesh);

// The number of this device's part along dimension `dim` of the placement: s32[].
Value part_index(Graph& graph, const Placement& placement, int64_t dim, const Mesh& mesh);

}  // namespace tethys
