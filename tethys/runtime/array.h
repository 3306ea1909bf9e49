// Array: real data, one PJRT buffer per addressable device of a mesh, with a global type, a placement (which may be
// Partial) and a memory space. A value like a shared pointer: copies are cheap and hold the same buffers, which are
// never written to. A program that takes an Array as a donated argument consumes it: all copies are empty from then on
// (consumed()), and reading one is an InternalError.
//
// The result of a running program is an Array at once; reading it waits. Any thread may read an Array that no program
// consumes meanwhile.
//
//   Array w = to_device(devices, tensor, {shard(0)});
//   HostTensor back = to_host(w);
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pjrt/buffer.h"
#include "runtime/device_mesh.h"
#include "runtime/shard.h"
#include "values/placement.h"

namespace tethys {

class Array {
 public:
  // Holds nothing.
  Array() = default;
  // One buffer for each addressable position of the mesh, in order.
  Array(std::shared_ptr<const DeviceMesh> devices, TensorType type, Placement placement,
        std::vector<pjrt::Buffer> buffers, ArrayKind kind, pjrt::MemoryKind memory = pjrt::MemoryKind::Default);

  bool empty() const { return state_ == nullptr; }
  const TensorType& type() const;  // of the whole
  const Placement& placement() const;
  const std::shared_ptr<const DeviceMesh>& devices() const;
  pjrt::MemoryKind memory() const;
  ArrayKind kind() const;
  // Moves it to another line of the ledger, for all its copies.
  void set_kind(ArrayKind kind);
  // On the devices of this process together.
  int64_t bytes() const;

  bool consumed() const;
  // Whether both hold the same buffers.
  bool same(const Array& other) const { return state_ == other.state_; }

  // The buffer of the device at an addressable position of the mesh.
  const pjrt::Buffer& buffer(int64_t position) const;
  // One for each addressable position, in order.
  const std::vector<pjrt::Buffer>& buffers() const;

  // Calls `done` once, when its data is there on every device: at once, or on a thread of the plugin's.
  void on_ready(std::function<void()> done) const;
  // Blocks until it is. PjrtError if the program that makes it failed.
  void await() const;

 private:
  friend class Executor;
  struct State;

  State& state() const;
  const std::vector<pjrt::Event>& events() const;
  // Hands the buffers to a program; give_back undoes it where the program was refused.
  std::vector<pjrt::Buffer> consume();
  void give_back(std::vector<pjrt::Buffer> buffers);

  std::shared_ptr<State> state_;
};

struct ArrayOptions {
  ArrayKind kind = ArrayKind::Input;
  pjrt::MemoryKind memory = pjrt::MemoryKind::Default;
};

// Copies each addressable device's part of a tensor there. The placement has no Partial.
Array to_device(std::shared_ptr<const DeviceMesh> devices, const HostTensor& tensor, const Placement& placement,
                const ArrayOptions& options = {});

// The same for a tensor that no host holds whole: `part` is asked once for each distinct shard of this process.
Array to_device(std::shared_ptr<const DeviceMesh> devices, const TensorType& type, const Placement& placement,
                const std::function<HostTensor(const Shard&)>& part, const ArrayOptions& options = {});

// The same in another memory, of the same devices. Returns at once.
Array copy_to(const Array& array, pjrt::MemoryKind memory);

// Waits and reads all of it; a Partial array is reduced on the host. InternalError if this process does not hold all.
HostTensor to_host(const Array& array);

// Waits and reads the part that lies at an addressable position of the mesh, a Partial's summand as it is.
HostTensor read_shard(const Array& array, int64_t position);

}  // namespace tethys
