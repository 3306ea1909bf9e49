#include "runtime/array.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "pjrt/event.h"

namespace tethys {

struct Array::State {
  State(std::shared_ptr<const DeviceMesh> devices_, TensorType type_, Placement placement_,
        std::vector<pjrt::Buffer> buffers_, ArrayKind kind_, pjrt::MemoryKind memory_)
      : devices(std::move(devices_)),
        type(std::move(type_)),
        placement(std::move(placement_)),
        buffers(std::move(buffers_)),
        kind(kind_),
        memory(memory_) {
    for (const pjrt::Buffer& buffer : buffers) bytes += buffer.on_device_bytes();
    devices->ledger().add(memory, kind, bytes);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!consumed) devices->ledger().remove(memory, kind, bytes);
  }

  std::shared_ptr<const DeviceMesh> devices;
  TensorType type;
  Placement placement;
  std::vector<pjrt::Buffer> buffers;
  ArrayKind kind;
  pjrt::MemoryKind memory;
  int64_t bytes = 0;
  bool consumed = false;

  // Made when somebody first asks whether the data is there: an event waits when it is dropped.
  std::mutex mutex;
  std::vector<pjrt::Event> events;
};

Array::Array(std::shared_ptr<const DeviceMesh> devices, TensorType type, Placement placement,
             std::vector<pjrt::Buffer> buffers, ArrayKind kind, pjrt::MemoryKind memory) {
  require(buffers.size() == devices->devices().size(), "{} buffers for the {} devices of this process", buffers.size(),
          devices->devices().size());
  state_ = std::make_shared<State>(std::move(devices), std::move(type), std::move(placement), std::move(buffers), kind,
                                   memory);
}

Array::State& Array::state() const {
  require(state_ != nullptr, "an array that holds nothing");
  return *state_;
}

const TensorType& Array::type() const { return state().type; }
const Placement& Array::placement() const { return state().placement; }
const std::shared_ptr<const DeviceMesh>& Array::devices() const { return state().devices; }
pjrt::MemoryKind Array::memory() const { return state().memory; }
ArrayKind Array::kind() const { return state().kind; }
int64_t Array::bytes() const { return state().bytes; }
bool Array::consumed() const { return state().consumed; }

const std::vector<pjrt::Buffer>& Array::buffers() const {
  require(!state().consumed, "an array {}{} that was donated to a program is read", to_string(type()),
          to_string(placement()));
  return state_->buffers;
}

void Array::set_kind(ArrayKind kind) {
  if (!state().consumed) {
    state_->devices->ledger().remove(state_->memory, state_->kind, state_->bytes);
    state_->devices->ledger().add(state_->memory, kind, state_->bytes);
  }
  state_->kind = kind;
}

const pjrt::Buffer& Array::buffer(int64_t position) const {
  const std::vector<int64_t> own = devices()->mesh().addressable();
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == position) return buffers()[i];
  }
  internal_error("position {} of mesh {} is not of process {}", position, to_string(devices()->mesh()),
                 devices()->mesh().process_index());
}

// The events of its buffers, made when they are first asked for.
const std::vector<pjrt::Event>& Array::events() const {
  const std::vector<pjrt::Buffer>& all = buffers();
  const std::lock_guard lock(state_->mutex);
  if (state_->events.empty()) {
    for (const pjrt::Buffer& buffer : all) state_->events.push_back(buffer.ready());
  }
  return state_->events;
}

void Array::on_ready(std::function<void()> done) const {
  const std::vector<pjrt::Event>& all = events();
  const auto left = std::make_shared<std::atomic<size_t>>(all.size());
  for (const pjrt::Event& event : all) {
    event.on_ready([left, done] {
      if (--*left == 0) done();
    });
  }
}

void Array::await() const {
  const Timed timed(devices()->time().wait);
  const Span span(devices()->tracer(), "wait for the device");
  std::vector<pjrt::Event> events;
  for (const pjrt::Buffer& buffer : buffers()) events.push_back(buffer.ready());
  pjrt::await_all(events);
}

std::vector<pjrt::Buffer> Array::consume() {
  buffers();
  state_->consumed = true;
  state_->devices->ledger().remove(state_->memory, state_->kind, state_->bytes);
  return std::move(state_->buffers);
}

void Array::give_back(std::vector<pjrt::Buffer> buffers) {
  state_->buffers = std::move(buffers);
  state_->consumed = false;
  state_->devices->ledger().add(state_->memory, state_->kind, state_->bytes);
}

namespace {

void check_placement(const TensorType& type, const Placement& placement) {
  require(!has_partial(placement), "{} cannot be put on devices as {}: a host holds values, not summands",
          to_string(type), to_string(placement));
}

}  // namespace

Array to_device(std::shared_ptr<const DeviceMesh> devices, const HostTensor& tensor, const Placement& placement,
                const ArrayOptions& options) {
  check_placement(tensor.type(), placement);
  const Timed timed(devices->time().transfer);
  Span span(devices->tracer(), "host to device");
  const std::vector<Shard> shards = addressable_shards(tensor.type(), placement, devices->mesh());
  int64_t moved = 0;
  std::vector<pjrt::Buffer> buffers;
  for (size_t i = 0; i < shards.size(); ++i) {
    const TensorType local{tensor.type().dtype, shards[i].extent};
    HostTensor copy;
    std::span<const std::byte> bytes;
    if (is_contiguous(tensor.type(), shards[i])) {
      bytes = tensor.bytes();
      if (local.bytes() > 0) bytes = bytes.subspan(static_cast<size_t>(first_byte(tensor.type(), shards[i])));
      bytes = bytes.first(static_cast<size_t>(local.bytes()));
    } else {
      copy = cut(tensor, shards[i]);
      bytes = std::as_const(copy).bytes();
    }
    buffers.push_back(pjrt::Buffer::from_host(devices->client(), local, bytes, devices->devices()[i], options.memory));
    moved += local.bytes();
  }
  span.set({"bytes", moved});
  return {std::move(devices), tensor.type(), placement, std::move(buffers), options.kind, options.memory};
}

Array to_device(std::shared_ptr<const DeviceMesh> devices, const TensorType& type, const Placement& placement,
                const std::function<HostTensor(const Shard&)>& part, const ArrayOptions& options) {
  check_placement(type, placement);
  const std::vector<Shard> shards = addressable_shards(type, placement, devices->mesh());
  std::vector<pjrt::Buffer> buffers(shards.size());
  for (const Shard& unique : unique_shards(type, placement, devices->mesh())) {
    const HostTensor local = part(unique);
    require(local.type() == TensorType{type.dtype, unique.extent}, "a part of type {} for a shard of {}",
            to_string(local.type()), to_string(unique.extent));
    const Timed timed(devices->time().transfer);
    Span span(devices->tracer(), "host to device");
    int64_t moved = 0;
    for (size_t i = 0; i < shards.size(); ++i) {
      // Dimensions of size zero have one offset for all; their data is the same, too.
      if (shards[i].offset != unique.offset) continue;
      buffers[i] = pjrt::Buffer::from_host(devices->client(), local, devices->devices()[i], options.memory);
      moved += local.type().bytes();
    }
    span.set({"bytes", moved});
  }
  return {std::move(devices), type, placement, std::move(buffers), options.kind, options.memory};
}

Array copy_to(const Array& array, pjrt::MemoryKind memory) {
  const auto& devices = array.devices();
  const Timed timed(devices->time().transfer);
  const Span span(devices->tracer(), "copy to", name_of(memory), {"bytes", array.bytes()});
  std::vector<pjrt::Buffer> buffers;
  for (size_t i = 0; i < array.buffers().size(); ++i)
    buffers.push_back(array.buffers()[i].copy_to(devices->devices()[i], memory));
  return {devices, array.type(), array.placement(), std::move(buffers), array.kind(), memory};
}

HostTensor to_host(const Array& array) {
  array.await();
  const Mesh& mesh = array.devices()->mesh();
  std::vector<HostTensor> parts;
  const Timed timed(array.devices()->time().transfer);
  Span span(array.devices()->tracer(), "device to host");
  int64_t moved = 0;
  for (const Shard& shard : unique_shards(array.type(), array.placement(), mesh)) {
    parts.push_back(array.buffer(shard.position).to_host());
    moved += parts.back().type().bytes();
  }
  span.set({"bytes", moved});
  if (parts.size() == 1 && !has_partial(array.placement()) && parts[0].type() == array.type())
    return std::move(parts[0]);
  return join(array.type(), array.placement(), mesh, parts);
}

HostTensor read_shard(const Array& array, int64_t position) {
  const pjrt::Buffer& buffer = array.buffer(position);
  {
    const Timed timed(array.devices()->time().wait);
    const Span span(array.devices()->tracer(), "wait for the device");
    buffer.ready().await();
  }
  const Timed timed(array.devices()->time().transfer);
  const Span span(array.devices()->tracer(), "device to host", {}, {"bytes", buffer.type().bytes()});
  return buffer.to_host();
}

}  // namespace tethys
