#include "values/placement.h"

#include <algorithm>

#include "base/error.h"

namespace tethys {

Placement replicated(const Mesh& mesh) { return Placement(mesh.rank()); }

bool has_partial(const Placement& placement) {
  return std::any_of(placement.begin(), placement.end(), [](const AxisPlacement& a) { return a.is_partial(); });
}

int64_t shard_count(const Placement& placement, const Mesh& mesh, int64_t dim) {
  int64_t count = 1;
  for (size_t axis = 0; axis < placement.size(); ++axis) {
    if (placement[axis].is_shard(dim)) count *= mesh.axes().at(axis).size;
  }
  return count;
}

Dims padded_dims(const Dims& dims, const Placement& placement, const Mesh& mesh) {
  Dims padded = dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t parts = shard_count(placement, mesh, static_cast<int64_t>(d));
    padded[d] = (dims[d] + parts - 1) / parts * parts;
  }
  return padded;
}

Dims local_dims(const Dims& global, const Placement& placement, const Mesh& mesh) {
  for (const AxisPlacement& axis : placement) {
    require(!axis.is_shard() || axis.dim < static_cast<int64_t>(global.size()), "placement {} of a tensor of shape {}",
            to_string(placement), to_string(global));
  }
  Dims local = global;
  for (size_t dim = 0; dim < local.size(); ++dim) {
    const int64_t parts = shard_count(placement, mesh, static_cast<int64_t>(dim));
    require(local[dim] % parts == 0, "dimension {} of {} does not divide into the {} parts of placement {} on mesh {}",
            dim, to_string(global), parts, to_string(placement), to_string(mesh));
    local[dim] /= parts;
  }
  return local;
}

TensorType local_type(const TensorType& global, const Placement& placement, const Mesh& mesh) {
  return {global.dtype, local_dims(global.dims, placement, mesh)};
}

Dims local_offsets(const Dims& global, const Placement& placement, const Mesh& mesh, int64_t position) {
  const Dims local = local_dims(global, placement, mesh);
  Dims offsets(global.size(), 0);
  for (size_t axis = 0; axis < placement.size(); ++axis) {
    if (!placement[axis].is_shard()) continue;
    int64_t& index = offsets[placement[axis].dim];  // the part's number so far, major axis first
    index = index * mesh.axes()[axis].size + mesh.coordinate(position, static_cast<int64_t>(axis));
  }
  for (size_t dim = 0; dim < offsets.size(); ++dim) offsets[dim] *= local[dim];
  return offsets;
}

std::string to_string(const Placement& placement) {
  static constexpr const char* kReductions[] = {"sum", "max", "min"};
  std::string text;
  for (const AxisPlacement& axis : placement) {
    if (!text.empty()) text += ",";
    if (axis.is_replicate()) text += "R";
    if (axis.is_shard()) text += fmt::format("S({})", axis.dim);
    if (axis.is_partial()) text += fmt::format("P({})", kReductions[static_cast<size_t>(axis.reduction)]);
  }
  return "(" + text + ")";
}

}  // namespace tethys
