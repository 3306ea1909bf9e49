// Shards: which part of a tensor lies on which device of a mesh, and cutting and joining the parts on the host. Only
// the devices that this process addresses are ever spoken of.
//
//   addressable_shards({DType::F32, {8, 4}}, {shard(0)}, mesh)[1];   // position 1, offset {2, 0}, extent {2, 4}
#pragma once

#include <span>
#include <vector>

#include "values/host_tensor.h"
#include "values/mesh.h"
#include "values/placement.h"

namespace tethys {

struct Shard {
  int64_t position = 0;  // of its device in the mesh
  Dims offset;           // of its first element in the whole
  Dims extent;
  bool operator==(const Shard&) const = default;
};

// One for each addressable device, by position.
std::vector<Shard> addressable_shards(const TensorType& type, const Placement& placement, const Mesh& mesh);

// The same without copies: of devices that hold the same data, that of the lowest position. Summands of a Partial are
// not the same data.
std::vector<Shard> unique_shards(const TensorType& type, const Placement& placement, const Mesh& mesh);

// Whether the shard is one run of bytes in the whole; then where it starts.
bool is_contiguous(const TensorType& type, const Shard& shard);
int64_t first_byte(const TensorType& type, const Shard& shard);

HostTensor cut(const HostTensor& whole, const Shard& shard);
void paste(HostTensor& whole, const HostTensor& part, const Shard& shard);

// The reduction of parts of one type: in float64 where it is floating, else in its own dtype.
HostTensor reduce_parts(std::span<const HostTensor> parts, Reduction reduction);

// The whole from the parts of unique_shards, in its order; Partial is reduced. InternalError if this process does not
// hold all of it.
HostTensor join(const TensorType& type, const Placement& placement, const Mesh& mesh,
                std::span<const HostTensor> parts);

}  // namespace tethys
