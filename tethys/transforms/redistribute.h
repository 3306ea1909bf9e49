// What a redistribute node is on one device: collectives, slices, pads and casts that take the local part of a value to
// its part in another placement.
#pragma once

#include "ir/graph.h"
#include "values/mesh.h"

namespace tethys {

// `local` is this device's part of a value at `from`; returns its part at `to`. The shapes may differ by zeros at the
// end of dimensions. Sums are taken in the wider of the two dtypes, everything else travels in the narrower.
// Gathers are marked as those of a parameter where it is one.
Value redistribute_local(Value local, const Layout& from, const Layout& to, const Mesh& mesh,
                         bool of_parameter = false);

}  // namespace tethys
