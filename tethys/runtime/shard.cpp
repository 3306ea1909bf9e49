#include "runtime/shard.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace tethys {
namespace {

// What tells the data of two devices apart: along axes that shard or hold summands, their coordinates.
std::vector<int64_t> identity(const Placement& placement, const Mesh& mesh, int64_t position, bool summands) {
  std::vector<int64_t> id;
  for (int64_t axis = 0; axis < static_cast<int64_t>(placement.size()); ++axis) {
    const AxisPlacement& a = placement[axis];
    if (a.is_shard() || (summands && a.is_partial())) id.push_back(mesh.coordinate(position, axis));
  }
  return id;
}

// Calls `copy(offset in the whole, offset in the part, length)`, in bytes, for each run of a shard's last dimension.
template <typename Copy>
void for_each_run(const TensorType& type, const Shard& shard, Copy copy) {
  const auto rank = static_cast<size_t>(type.rank());
  const auto element = static_cast<int64_t>(size_of(type.dtype));
  if (element_count(shard.extent) == 0) return;
  const int64_t run = rank == 0 ? element : shard.extent[rank - 1] * element;
  const int64_t runs = element_count(shard.extent) * element / run;
  Dims index(rank, 0);
  for (int64_t r = 0; r < runs; ++r) {
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d) at = at * type.dims[d] + shard.offset[d] + index[d];
    copy(at * element, r * run, run);
    for (size_t d = rank - (rank > 0 ? 1 : 0); d-- > 0;) {
      if (++index[d] < shard.extent[d]) break;
      index[d] = 0;
    }
  }
}

template <typename T>
void reduce_as(HostTensor& total, const HostTensor& part, Reduction reduction) {
  const std::span<T> out = total.as<T>();
  const std::span<const T> in = part.as<T>();
  for (size_t i = 0; i < out.size(); ++i) {
    switch (reduction) {
      case Reduction::Sum: out[i] = static_cast<T>(static_cast<uint64_t>(out[i]) + static_cast<uint64_t>(in[i])); break;
      case Reduction::Max: out[i] = std::max(out[i], in[i]); break;
      case Reduction::Min: out[i] = std::min(out[i], in[i]); break;
    }
  }
}

void reduce_integers(HostTensor& total, const HostTensor& part, Reduction reduction) {
  switch (total.type().dtype) {
    case DType::S8: return reduce_as<int8_t>(total, part, reduction);
    case DType::S16: return reduce_as<int16_t>(total, part, reduction);
    case DType::S32: return reduce_as<int32_t>(total, part, reduction);
    case DType::S64: return reduce_as<int64_t>(total, part, reduction);
    case DType::Bool:
    case DType::U8: return reduce_as<uint8_t>(total, part, reduction);
    case DType::U16: return reduce_as<uint16_t>(total, part, reduction);
    case DType::U32: return reduce_as<uint32_t>(total, part, reduction);
    case DType::U64: return reduce_as<uint64_t>(total, part, reduction);
    default: internal_error("{} reduced as an integer", name_of(total.type().dtype));
  }
}

Reduction reduction_of(const Placement& placement) {
  std::set<Reduction> found;
  for (const AxisPlacement& axis : placement) {
    if (axis.is_partial()) found.insert(axis.reduction);
  }
  require(found.size() <= 1, "placement {} mixes reductions, so their order would matter", to_string(placement));
  return found.empty() ? Reduction::Sum : *found.begin();
}

}  // namespace

std::vector<Shard> addressable_shards(const TensorType& type, const Placement& placement, const Mesh& mesh) {
  require(static_cast<int64_t>(placement.size()) == mesh.rank(), "placement {} on mesh {}", to_string(placement),
          to_string(mesh));
  const Dims extent = local_dims(type.dims, placement, mesh);
  std::vector<Shard> shards;
  for (int64_t position : mesh.addressable()) {
    shards.push_back({position, local_offsets(type.dims, placement, mesh, position), extent});
  }
  return shards;
}

std::vector<Shard> unique_shards(const TensorType& type, const Placement& placement, const Mesh& mesh) {
  std::set<std::vector<int64_t>> seen;
  std::vector<Shard> unique;
  for (Shard& shard : addressable_shards(type, placement, mesh)) {
    if (seen.insert(identity(placement, mesh, shard.position, true)).second) unique.push_back(std::move(shard));
  }
  return unique;
}

bool is_contiguous(const TensorType& type, const Shard& shard) {
  // All dimensions after the first that is cut are whole, and before it only one index is taken.
  size_t d = 0;
  while (d < type.dims.size() && shard.extent[d] == 1) ++d;
  for (++d; d < type.dims.size(); ++d) {
    if (shard.extent[d] != type.dims[d]) return false;
  }
  return true;
}

int64_t first_byte(const TensorType& type, const Shard& shard) {
  int64_t at = 0;
  for (size_t d = 0; d < type.dims.size(); ++d) at = at * type.dims[d] + shard.offset[d];
  return at * static_cast<int64_t>(size_of(type.dtype));
}

HostTensor cut(const HostTensor& whole, const Shard& shard) {
  HostTensor part({whole.type().dtype, shard.extent});
  for_each_run(whole.type(), shard, [&](int64_t in_whole, int64_t in_part, int64_t bytes) {
    std::memcpy(part.bytes().data() + in_part, whole.bytes().data() + in_whole, static_cast<size_t>(bytes));
  });
  return part;
}

void paste(HostTensor& whole, const HostTensor& part, const Shard& shard) {
  for_each_run(whole.type(), shard, [&](int64_t in_whole, int64_t in_part, int64_t bytes) {
    std::memcpy(whole.bytes().data() + in_whole, part.bytes().data() + in_part, static_cast<size_t>(bytes));
  });
}

HostTensor reduce_parts(std::span<const HostTensor> parts, Reduction reduction) {
  require(!parts.empty(), "a reduction of no parts");
  if (parts.size() == 1) return parts[0];
  const TensorType& type = parts[0].type();
  if (!is_floating(type.dtype)) {
    HostTensor total = parts[0];
    for (const HostTensor& part : parts.subspan(1)) reduce_integers(total, part, reduction);
    return total;
  }
  std::vector<double> total = parts[0].to_doubles();
  for (const HostTensor& part : parts.subspan(1)) {
    const std::vector<double> values = part.to_doubles();
    for (size_t i = 0; i < total.size(); ++i) {
      if (reduction == Reduction::Sum) total[i] += values[i];
      if (reduction == Reduction::Max) total[i] = std::max(total[i], values[i]);
      if (reduction == Reduction::Min) total[i] = std::min(total[i], values[i]);
    }
  }
  return HostTensor::from_doubles(type, total);
}

HostTensor join(const TensorType& type, const Placement& placement, const Mesh& mesh,
                std::span<const HostTensor> parts) {
  const std::vector<Shard> shards = unique_shards(type, placement, mesh);
  require(shards.size() == parts.size(), "{} parts for {} shards", parts.size(), shards.size());
  int64_t expected = 1;
  for (size_t axis = 0; axis < placement.size(); ++axis) {
    if (!placement[axis].is_replicate()) expected *= mesh.axes()[axis].size;
  }
  require(static_cast<int64_t>(shards.size()) == expected,
          "process {} of {} holds {} of the {} parts of a tensor placed {} on mesh {}: no process can read all of it",
          mesh.process_index(), mesh.process_count(), shards.size(), expected, to_string(placement), to_string(mesh));

  const Reduction reduction = reduction_of(placement);
  std::map<std::vector<int64_t>, std::vector<size_t>> windows;
  for (size_t i = 0; i < shards.size(); ++i) {
    windows[identity(placement, mesh, shards[i].position, false)].push_back(i);
  }
  HostTensor whole(type);
  for (const auto& [id, indices] : windows) {
    if (indices.size() == 1) {
      paste(whole, parts[indices[0]], shards[indices[0]]);
      continue;
    }
    std::vector<HostTensor> summands;
    for (size_t i : indices) summands.push_back(parts[i]);
    paste(whole, reduce_parts(summands, reduction), shards[indices[0]]);
  }
  return whole;
}

}  // namespace tethys
