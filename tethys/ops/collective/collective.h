// Collectives and the axis index: the ops of a per-device program. localise makes them; models never do.
//
// `axes` are positions in the mesh, major first; a group of devices differs only along them.
#pragma once

#include "ir/graph.h"

namespace tethys {

// The index of this device along one axis: s32[].
Value axis_index(Graph& graph, const Mesh& mesh, int64_t axis);

Value all_reduce(Value x, const Mesh& mesh, Dims axes, Reduction reduction);
// The parts of all devices of a group, one after the other along `dim`.
Value all_gather(Value x, const Mesh& mesh, Dims axes, int64_t dim, bool of_parameter = false);
// The reduction of all parts, of which each device keeps its piece along `dim`.
Value reduce_scatter(Value x, const Mesh& mesh, Dims axes, int64_t dim, Reduction reduction);
// Cuts x along `split_dim`, sends piece i to device i, and joins what arrives along `concat_dim`.
Value all_to_all(Value x, const Mesh& mesh, Dims axes, int64_t split_dim, int64_t concat_dim);
// Device i along `axis` receives from device i − shift; the ends receive zeros unless `wrap`.
Value collective_permute(Value x, const Mesh& mesh, int64_t axis, int64_t shift, bool wrap);

struct CollectiveAttributes {
  Dims axes;
  int64_t group_size = 1;
  int64_t dim = 0;         // gathered, scattered or split
  int64_t concat_dim = 0;  // of all_to_all
  Reduction reduction = Reduction::Sum;
  int64_t shift = 0;  // of collective_permute
  bool wrap = false;
  // Of all_gather: whether it makes a parameter whole. Those may be gathered together, and ahead of their use.
  bool of_parameter = false;
  bool operator==(const CollectiveAttributes&) const = default;
};
std::string describe(const CollectiveAttributes& attributes);
const CollectiveAttributes& collective_attributes(const Attributes& attributes);

}  // namespace tethys
