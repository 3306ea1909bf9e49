#include "train/stored_state.h"

#include <cstring>

#include "base/error.h"

namespace tethys {
namespace {

// What an array's shards are on the host, each read once and held until all its members are saved.
class HostShards {
 public:
  explicit HostShards(Array array, size_t members) : array_(std::move(array)), members_(members) {}

  // Copies the part of member number `member` out; `size` bytes at that place of the shard.
  void with(int64_t position, const std::function<void(std::span<const std::byte>)>& use) {
    Held& held = held_[position];
    if (held.uses == 0) held.shard = read_shard(array_, position);
    use(held.shard.bytes());
    if (++held.uses == members_) held_.erase(position);
  }

 private:
  struct Held {
    HostTensor shard;
    size_t uses = 0;
  };
  Array array_;
  size_t members_;
  std::map<int64_t, Held> held_;
};

// The placement of one member of a stack: dimensions count without the layers.
Placement member_placement(const StoredParameter& stored) {
  Placement placement = stored.placement;
  if (!stored.stacked) return placement;
  for (AxisPlacement& axis : placement) {
    if (!axis.is_shard()) continue;
    require(axis.dim > 0, "{} is sharded over its layers", stored.name);
    --axis.dim;
  }
  return placement;
}

TensorType member_type(const StoredParameter& stored, size_t member, DType dtype) {
  return {dtype, stored.members[member]->dims()};
}

// The bytes of one member within a shard of a stack.
template <typename Bytes>
Bytes member_bytes(Bytes shard, size_t member, size_t members) {
  const size_t size = shard.size() / members;
  return shard.subspan(member * size, size);
}

void check_tensor(const Checkpoint& checkpoint, const std::string& name, const TensorType& expected) {
  const auto& tensors = checkpoint.manifest().tensors;
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    user_error("{} has no tensor {} ({}); it is of another model, or holds no such state", checkpoint.path().string(),
               name, to_string(expected));
  }
  if (found->second.type != expected) {
    user_error("{}: {} is {}, expected {}: the checkpoint is of another model or another training.dtype",
               checkpoint.path().string(), name, to_string(found->second.type), to_string(expected));
  }
}

}  // namespace

void append_pieces(std::vector<PieceSource>& pieces, const std::string& prefix,
                   const std::vector<StoredParameter>& store, const std::vector<Array>& arrays) {
  require(store.size() == arrays.size(), "{} arrays for a store of {}", arrays.size(), store.size());
  for (size_t i = 0; i < store.size(); ++i) {
    const StoredParameter& stored = store[i];
    const Mesh& mesh = arrays[i].devices()->mesh();
    const size_t members = stored.members.size();
    const Placement placement = member_placement(stored);
    const auto shards = std::make_shared<HostShards>(arrays[i], members);
    const std::vector<int64_t> addressable = mesh.addressable();
    for (size_t member = 0; member < members; ++member) {
      const TensorType type = member_type(stored, member, arrays[i].type().dtype);
      for (const OwnedWindow& owned : owned_windows(type.dims, placement, mesh)) {
        if (owned.position < addressable.front() || owned.position > addressable.back()) continue;
        const Window from = stored_window(type.dims, placement, mesh, owned.position);
        pieces.push_back({prefix + stored.members[member]->name(), type, owned.window,
                          [shards, type, from, owned, member, members](std::span<std::byte> out) {
                            shards->with(owned.position, [&](std::span<const std::byte> shard) {
                              copy_shared(size_of(type.dtype), from, member_bytes(shard, member, members), owned.window,
                                          out);
                            });
                          }});
      }
    }
  }
}

void append_types(std::map<std::string, TensorType>& types, const std::string& prefix,
                  const std::vector<StoredParameter>& store, DType dtype) {
  for (const StoredParameter& stored : store) {
    for (size_t member = 0; member < stored.members.size(); ++member) {
      types[prefix + stored.members[member]->name()] = member_type(stored, member, dtype);
    }
  }
}

std::vector<Array> load_arrays(Checkpoint& checkpoint, const std::string& prefix,
                               const std::vector<StoredParameter>& store, DType dtype,
                               const std::shared_ptr<const DeviceMesh>& devices, ArrayKind kind) {
  std::vector<Array> arrays;
  for (const StoredParameter& stored : store) {
    const size_t members = stored.members.size();
    const auto part = [&](const Shard& shard) {
      HostTensor local(TensorType{dtype, shard.extent});
      Window window{shard.offset, shard.extent};
      if (stored.stacked) {
        window.offset.erase(window.offset.begin());
        window.extent.erase(window.extent.begin());
      }
      for (size_t member = 0; member < members; ++member) {
        const TensorType type = member_type(stored, member, dtype);
        const std::string name = prefix + stored.members[member]->name();
        const std::optional<Window> real = intersect(window, whole(type.dims));
        if (!real) continue;  // all of it is padding
        const HostTensor read = checkpoint.read(name, *real);
        copy_shared(size_of(dtype), *real, read.bytes(), window, member_bytes(local.bytes(), member, members));
      }
      return local;
    };
    for (size_t member = 0; member < members; ++member) {
      check_tensor(checkpoint, prefix + stored.members[member]->name(), member_type(stored, member, dtype));
    }
    arrays.push_back(to_device(devices, stored.type.with_dtype(dtype), stored.placement, part, {.kind = kind}));
  }
  return arrays;
}

}  // namespace tethys
