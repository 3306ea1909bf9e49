#include "train/stored_state.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "checkpoint/convert.h"
#include "pjrt/event.h"

namespace tethys {
namespace {

// What an array's shards are on the host. Read one by one when they are asked for, and held until all members have
// been saved; or copied before, all at once, and held to the end.
class HostShards {
 public:
  HostShards(Array array, size_t members) : array_(std::move(array)), members_(members) {}

  // Begins to copy the shard at this position; it is there when the event is done.
  void copy(int64_t position, CopyMemory& memory, std::vector<pjrt::Event>& copies) {
    Held& held = held_[position];
    if (held.kept) return;
    const pjrt::Buffer& buffer = array_.buffer(position);
    held.kept = memory.take(static_cast<size_t>(buffer.type().bytes()));
    copies.push_back(buffer.copy_to_host(held.kept->bytes()));
  }
  // After all the copies: the array is not needed any more.
  void let_go() { array_ = Array(); }

  // The bytes of a shard that was copied.
  std::span<const std::byte> kept(int64_t position) const { return held_.at(position).kept->bytes(); }

  // One use for each member.
  void with(int64_t position, const std::function<void(std::span<const std::byte>)>& use) {
    Held& held = held_[position];
    if (held.kept) return use(kept(position));
    if (held.uses == 0) held.shard = read_shard(array_, position);
    use(std::as_const(held.shard).bytes());
    if (++held.uses == members_) held_.erase(position);
  }

 private:
  struct Held {
    std::optional<CopyMemory::Block> kept;
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

// In which an array of the store is kept: what is not trained is at least float32.
DType stored_dtype(const StoredParameter& stored, DType dtype) { return stored.trained() ? dtype : wide(dtype); }

TensorType member_type(const StoredParameter& stored, size_t member, DType dtype) {
  return {stored_dtype(stored, dtype), stored.members[member]->dims()};
}

// The bytes of one member within a shard of a stack.
template <typename Bytes>
Bytes member_bytes(Bytes shard, size_t member, size_t members) {
  const size_t size = shard.size() / members;
  return shard.subspan(member * size, size);
}

void check_tensor(const Checkpoint& checkpoint, const std::string& name, const TensorType& expected, bool convert) {
  const auto& tensors = checkpoint.manifest().tensors;
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    user_error("{} has no tensor {} ({}); it is of another model, or holds no such state", checkpoint.path().string(),
               name, to_string(expected));
  }
  const TensorType& saved = found->second.type;
  if (convert && saved.dims == expected.dims && is_convertible(saved.dtype) && is_convertible(expected.dtype)) return;
  if (saved != expected) {
    user_error("{}: {} is {}, expected {}: the checkpoint is of another model or another training.dtype",
               checkpoint.path().string(), name, to_string(saved), to_string(expected));
  }
}

}  // namespace

namespace {

// The piece of one member that lies at one position.
PieceSource piece_of(const std::string& name, const TensorType& type, const OwnedWindow& owned, const Mesh& mesh,
                     const Placement& placement, const std::shared_ptr<HostShards>& shards, size_t member,
                     size_t members, bool copied) {
  const Window from = stored_window(type.dims, placement, mesh, owned.position);
  PieceSource piece{name, type, owned.window, {}, {}};
  piece.read = [=](std::span<std::byte> out) {
    shards->with(owned.position, [&](std::span<const std::byte> shard) {
      copy_shared(size_of(type.dtype), from, member_bytes(shard, member, members), owned.window, out);
    });
  };
  // Padding is at the ends: without any, or with rows of it alone, the piece is one run of the copy.
  const std::optional<size_t> begin = run_within(size_of(type.dtype), owned.window, from);
  if (copied && begin) {
    const size_t size = static_cast<size_t>(owned.window.elements()) * size_of(type.dtype);
    piece.view = [=] { return member_bytes(shards->kept(owned.position), member, members).subspan(*begin, size); };
  }
  return piece;
}

}  // namespace

void append_pieces(std::vector<PieceSource>& pieces, const std::string& prefix,
                   const std::vector<StoredParameter>& store, const std::vector<Array>& arrays, CopyMemory* copies) {
  require(store.size() == arrays.size(), "{} arrays for a store of {}", arrays.size(), store.size());
  std::vector<std::shared_ptr<HostShards>> all;
  std::vector<pjrt::Event> begun;
  for (size_t i = 0; i < store.size(); ++i) {
    const StoredParameter& stored = store[i];
    const Mesh& mesh = arrays[i].devices()->mesh();
    const size_t members = stored.members.size();
    const Placement placement = member_placement(stored);
    const auto shards = all.emplace_back(std::make_shared<HostShards>(arrays[i], members));
    const std::vector<int64_t> addressable = mesh.addressable();
    for (size_t member = 0; member < members; ++member) {
      const TensorType type = member_type(stored, member, arrays[i].type().dtype);
      for (const OwnedWindow& owned : owned_windows(type.dims, placement, mesh)) {
        if (owned.position < addressable.front() || owned.position > addressable.back()) continue;
        if (copies != nullptr) shards->copy(owned.position, *copies, begun);
        pieces.push_back(piece_of(prefix + stored.members[member]->name(), type, owned, mesh, placement, shards, member,
                                  members, copies != nullptr));
      }
    }
  }
  pjrt::await_all(begun);
  if (copies != nullptr) {
    for (const auto& shards : all) shards->let_go();
  }
}

std::vector<PieceSource> pieces_in(DType dtype, std::vector<PieceSource> pieces) {
  for (PieceSource& piece : pieces) {
    if (piece.type.dtype == dtype) continue;
    const auto source = std::make_shared<const PieceSource>(std::move(piece));
    const size_t size = static_cast<size_t>(source->window.elements()) * size_of(source->type.dtype);
    piece = {source->name, {dtype, source->type.dims}, source->window, [source, size, dtype](std::span<std::byte> out) {
               if (source->view) return convert(source->type.dtype, source->view(), dtype, out);
               std::vector<std::byte> bytes(size);
               source->read(bytes);
               convert(source->type.dtype, bytes, dtype, out);
             }};
  }
  return pieces;
}

void append_types(std::map<std::string, TensorType>& types, const std::string& prefix,
                  const std::vector<StoredParameter>& store, DType dtype) {
  for (const StoredParameter& stored : store) {
    for (size_t member = 0; member < stored.members.size(); ++member) {
      types[prefix + stored.members[member]->name()] = member_type(stored, member, dtype);
    }
  }
}

namespace {

// One member of a shard of a stack, into `out`.
void load_member(Checkpoint& checkpoint, const std::string& name, const TensorType& type, const Window& window,
                 std::span<std::byte> out) {
  const std::optional<Window> real = intersect(window, whole(type.dims));
  if (!real) return;  // all of it is padding
  const DType saved = checkpoint.manifest().tensors.at(name).type.dtype;
  if (*real == window && saved == type.dtype) return checkpoint.read(name, window, out);
  const HostTensor read = checkpoint.read(name, *real);
  HostTensor converted(TensorType{type.dtype, real->extent});
  if (saved != type.dtype) convert(saved, read.bytes(), type.dtype, converted.bytes());
  copy_shared(size_of(type.dtype), *real, saved == type.dtype ? read.bytes() : std::as_const(converted).bytes(), window,
              out);
}

// The shard of an array that begins at this offset.
HostTensor shard_at(const Array& array, const Dims& offset) {
  for (const Shard& shard : unique_shards(array.type(), array.placement(), array.devices()->mesh())) {
    if (shard.offset == offset) return read_shard(array, shard.position);
  }
  internal_error("an array {} with no shard at {}", to_string(array.type()), to_string(offset));
}

}  // namespace

// Weights of another system, which may be converted, know nothing of what is not trained: it begins with zeros.
bool is_left_open(const Checkpoint& checkpoint, const StoredParameter& stored, const std::string& name,
                  const LoadOptions& options) {
  return options.convert && !stored.trained() && !checkpoint.manifest().tensors.contains(name);
}

std::vector<Array> load_arrays(Checkpoint& checkpoint, const std::string& prefix,
                               const std::vector<StoredParameter>& store, DType dtype,
                               const std::shared_ptr<const DeviceMesh>& devices, ArrayKind kind,
                               const LoadOptions& options) {
  std::vector<Array> arrays;
  for (size_t i = 0; i < store.size(); ++i) {
    const StoredParameter& stored = store[i];
    const size_t members = stored.members.size();
    std::vector<bool> loaded(members, true);
    for (size_t member = 0; member < members; ++member) {
      const std::string name = prefix + stored.members[member]->name();
      loaded[member] =
          !(options.excluded && options.excluded(name)) && !is_left_open(checkpoint, stored, name, options);
      if (loaded[member]) check_tensor(checkpoint, name, member_type(stored, member, dtype), options.convert);
    }
    const bool all = std::find(loaded.begin(), loaded.end(), false) == loaded.end();
    const auto part = [&](const Shard& shard) {
      HostTensor local = all || options.kept.empty() ? HostTensor(TensorType{stored_dtype(stored, dtype), shard.extent})
                                                     : shard_at(options.kept.at(i), shard.offset);
      Window window{shard.offset, shard.extent};
      if (stored.stacked) {
        window.offset.erase(window.offset.begin());
        window.extent.erase(window.extent.begin());
      }
      for (size_t member = 0; member < members; ++member) {
        if (!loaded[member]) continue;
        load_member(checkpoint, prefix + stored.members[member]->name(), member_type(stored, member, dtype), window,
                    member_bytes(local.bytes(), member, members));
      }
      return local;
    };
    arrays.push_back(to_device(devices, stored.type.with_dtype(stored_dtype(stored, dtype)), stored.placement, part,
                               {.kind = kind}));
  }
  return arrays;
}

}  // namespace tethys
