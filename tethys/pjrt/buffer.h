// Buffer: an array in the memory of one device. Move only; it keeps its client alive. A buffer may be a promise: the
// result of a program that still runs, whose error then shows when it is read or awaited.
//
//   Buffer b = Buffer::from_host(client, HostTensor::of<float>({2}, {1, 2}), /*device=*/0);
//   HostTensor t = b.to_host();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "pjrt/client.h"
#include "pjrt/event.h"
#include "values/host_tensor.h"
#include "values/shape.h"

namespace tethys::pjrt {

class Buffer {
 public:
  // A buffer that holds nothing: only assignment and the destructor may be used on it.
  Buffer() = default;
  Buffer(std::shared_ptr<const ClientState> client, Handle<PJRT_Buffer> handle);
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&& other);

  // Copies row-major host data to a device; the data may be changed or freed when this returns.
  static Buffer from_host(const Client& client, const HostTensor& tensor, int64_t device = 0,
                          MemoryKind memory = MemoryKind::Default);
  static Buffer from_host(const Client& client, const TensorType& type, std::span<const std::byte> data,
                          int64_t device = 0, MemoryKind memory = MemoryKind::Default);

  // Waits for the data and copies it, row-major.
  HostTensor to_host() const;
  // The same without waiting: `out`, of type().bytes() bytes, must live until the event is done.
  Event copy_to_host(std::span<std::byte> out) const;

  // Copies to the memory of a device of the same client; also where it lies already.
  Buffer copy_to(int64_t device, MemoryKind memory = MemoryKind::Default) const;

  TensorType type() const;
  // With the padding and tiling of the device.
  int64_t on_device_bytes() const;
  int64_t device() const;
  // The plugin's name of the memory.
  std::string memory_kind() const;

  // Done when the data is there.
  Event ready() const;
  // Frees the device's memory and keeps the handle, on which only is_deleted() may be asked then.
  void delete_data();
  // Also true once a program has consumed it.
  bool is_deleted() const;

  bool empty() const { return handle_ == nullptr; }
  PJRT_Buffer* get() const { return handle_.get(); }

 private:
  std::shared_ptr<const ClientState> client_;  // before handle_, so that it is freed after it
  Handle<PJRT_Buffer> handle_;
};

}  // namespace tethys::pjrt
