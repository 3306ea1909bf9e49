#include "pjrt/buffer.h"

#include <utility>

#include "pjrt/buffer_type.h"
#include "pjrt/call.h"
#include "pjrt/client_state.h"

namespace tethys::pjrt {
namespace {

// An empty array has no bytes, but a null pointer asks for the size instead of the data.
std::byte g_no_bytes{};

}  // namespace

Buffer::Buffer(std::shared_ptr<const ClientState> client, Handle<PJRT_Buffer> handle)
    : client_(std::move(client)), handle_(std::move(handle)) {}

Buffer& Buffer::operator=(Buffer&& other) {
  // The old buffer goes before the old client.
  handle_ = std::move(other.handle_);
  client_ = std::move(other.client_);
  return *this;
}

Buffer Buffer::from_host(const Client& client, const HostTensor& tensor, int64_t device, MemoryKind memory) {
  return from_host(client, tensor.type(), tensor.bytes(), device, memory);
}

Buffer Buffer::from_host(const Client& client, const TensorType& type, std::span<const std::byte> data, int64_t device,
                         MemoryKind memory) {
  require(static_cast<int64_t>(data.size()) == type.bytes(), "{} bytes for a buffer of type {}", data.size(),
          to_string(type));
  const std::shared_ptr<const ClientState>& state = client.state();
  const auto args = call(state->plugin, TETHYS_PJRT(PJRT_Client_BufferFromHostBuffer), [&](auto& a) {
    a.client = state->handle.get();
    a.data = data.empty() ? &g_no_bytes : data.data();
    a.type = to_c(type.dtype);
    a.dims = type.dims.data();
    a.num_dims = type.dims.size();
    a.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
    a.device = state->device(device);
    a.memory = state->memory(device, memory);
  });
  Buffer buffer(state, adopt(state->plugin, args.buffer));
  Event(adopt(state->plugin, args.done_with_host_buffer)).await();
  return buffer;
}

HostTensor Buffer::to_host() const {
  HostTensor out(type());
  copy_to_host(out.bytes()).await();
  return out;
}

Event Buffer::copy_to_host(std::span<std::byte> out) const {
  const TensorType own = type();
  require(static_cast<int64_t>(out.size()) == own.bytes(), "{} bytes on the host for a buffer of type {}", out.size(),
          to_string(own));
  std::vector<int64_t> minor_to_major(own.dims.size());
  for (size_t i = 0; i < minor_to_major.size(); ++i) minor_to_major[i] = own.rank() - 1 - static_cast<int64_t>(i);
  PJRT_Buffer_MemoryLayout layout{};
  layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  const auto args = call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_ToHostBuffer), [&](auto& a) {
    a.src = handle_.get();
    a.host_layout = &layout;
    a.dst = out.empty() ? &g_no_bytes : out.data();
    a.dst_size = out.size();
  });
  return Event(adopt(client_->plugin, args.event));
}

Buffer Buffer::copy_to(int64_t device, MemoryKind memory) const {
  PJRT_Memory* target = client_->memory(device, memory);
  if (target == nullptr) {
    const auto args = call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_CopyToDevice), [&](auto& a) {
      a.buffer = handle_.get();
      a.dst_device = client_->device(device);
    });
    return Buffer(client_, adopt(client_->plugin, args.dst_buffer));
  }
  const auto args = call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_CopyToMemory), [&](auto& a) {
    a.buffer = handle_.get();
    a.dst_memory = target;
  });
  return Buffer(client_, adopt(client_->plugin, args.dst_buffer));
}

TensorType Buffer::type() const {
  require(handle_ != nullptr, "the type of an empty buffer");
  const auto type =
      call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_ElementType), [&](auto& a) { a.buffer = handle_.get(); }).type;
  const auto args =
      call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_Dimensions), [&](auto& a) { a.buffer = handle_.get(); });
  return {from_c(type), Dims(args.dims, args.dims + args.num_dims)};
}

int64_t Buffer::on_device_bytes() const {
  const auto args =
      call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_OnDeviceSizeInBytes), [&](auto& a) { a.buffer = handle_.get(); });
  return static_cast<int64_t>(args.on_device_size_in_bytes);
}

int64_t Buffer::device() const {
  return client_->ordinal_of(
      call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_Device), [&](auto& a) { a.buffer = handle_.get(); }).device);
}

std::string Buffer::memory_kind() const {
  PJRT_Memory* memory =
      call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_Memory), [&](auto& a) { a.buffer = handle_.get(); }).memory;
  const auto kind = call(client_->plugin, TETHYS_PJRT(PJRT_Memory_Kind), [&](auto& a) { a.memory = memory; });
  return std::string(kind.kind, kind.kind_size);
}

Event Buffer::ready() const {
  return Event(adopt(client_->plugin, call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_ReadyEvent), [&](auto& a) {
                                        a.buffer = handle_.get();
                                      }).event));
}

void Buffer::delete_data() {
  call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_Delete), [&](auto& a) { a.buffer = handle_.get(); });
}

bool Buffer::is_deleted() const {
  return call(client_->plugin, TETHYS_PJRT(PJRT_Buffer_IsDeleted), [&](auto& a) { a.buffer = handle_.get(); })
      .is_deleted;
}

}  // namespace tethys::pjrt
