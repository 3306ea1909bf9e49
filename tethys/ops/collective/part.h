// Which part of a tensor a device holds, in a per-device program.
#pragma once

#include "ir/graph.h"

namespace tethys {

// The mesh axes that cut dimension `dim`, in mesh order. Axes of one device cut nothing.
Dims cutting_axes(const Placement& placement, int64_t dim, const Mesh& mesh);

// The index of this device in the group that differs along `axes`, major first; 0 without axes: s32[].
Value group_index(Graph& graph, const Mesh& mesh, const Dims& axes);

// The number of this device's part along dimension `dim`: s32[].
Value part_index(Graph& graph, const Placement& placement, int64_t dim, const Mesh& mesh);

// The global index of the first element that this device holds along dimension `dim`: s32[].
Value part_start(Graph& graph, const Layout& layout, int64_t dim, const Mesh& mesh);

// Of a value that all devices of a group have whole, this device's part along dimension `dim`, cut along `axes`.
Value own_part(Value x, const Mesh& mesh, const Dims& axes, int64_t dim);

}  // namespace tethys
