#include "hlo/memory_plan.h"

#include <hlo.pb.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"

namespace tethys::hlo {
namespace {

// Kinds of events, and the memory that programs run from (as opposed to a chip's own, or the host's).
constexpr int32_t kFree = 1, kShare = 2, kMain = 0;

// The number of the first array under `path` in a shape.
size_t leaf_at(const Shape& shape, const google::protobuf::RepeatedField<int64_t>& path) {
  const Shape* inner = &shape;
  size_t leaf = 0;
  for (int64_t step : path) {
    if (step < 0 || step >= static_cast<int64_t>(inner->parts.size())) user_error("a memory plan of another program");
    for (int64_t before = 0; before < step; ++before) leaf += leaf_count(inner->parts[before]);
    inner = &inner->parts[step];
  }
  return leaf;
}

class Reader {
 public:
  Reader(const wire::ModuleWithBuffers& from) : plan_{read_module(from.hlo_module()), 0, {}} {
    for (size_t c = 0; c < plan_.module.computations.size(); ++c) {
      const auto& instructions = plan_.module.computations[c].instructions;
      for (size_t i = 0; i < instructions.size(); ++i) places_[instructions[i].id] = {c, i, 0};
    }
    for (const wire::LogicalBuffer& buffer : from.buffer_assignment().logical_buffers())
      buffers_[buffer.id()] = &buffer;
  }

  MemoryPlan read(const wire::BufferAssignment& from) {
    for (const wire::HeapTrace& trace : from.heap_simulator_traces()) {
      const auto allocation =
          std::find_if(from.buffer_allocations().begin(), from.buffer_allocations().end(),
                       [&](const wire::BufferAllocation& a) { return a.index() == trace.buffer_allocation_index(); });
      const bool main = allocation != from.buffer_allocations().end() && allocation->color() == kMain;
      if (!main || allocation->size() <= plan_.temporaries) continue;
      plan_.temporaries = allocation->size();
      replay(trace);
    }
    return std::move(plan_);
  }

 private:
  const wire::LogicalBuffer& buffer(int64_t id) const {
    const auto found = buffers_.find(id);
    if (found == buffers_.end()) user_error("a memory plan names buffer {}, which it does not have", id);
    return *found->second;
  }

  ValueAt place_of(int64_t id) const {
    const wire::ValueLocation& location = buffer(id).defined_at();
    const auto found = places_.find(location.instruction_id());
    if (found == places_.end()) user_error("a memory plan names instruction {}, which is not there", id);
    ValueAt place = found->second;
    place.leaf = leaf_at(plan_.at(place).shape, location.shape_index());
    return place;
  }

  static int64_t known(const std::map<int64_t, int64_t>& first_of, int64_t id) {
    const auto found = first_of.find(id);
    if (found == first_of.end()) user_error("a memory plan frees or shares buffer {}, which nothing made", id);
    return found->second;
  }

  // Memory is taken, shared and freed in the order of the schedule.
  void replay(const wire::HeapTrace& trace) {
    std::map<int64_t, int64_t> first_of, users;      // of a buffer: the one whose memory it shares; of those, how many
    std::map<int64_t, std::vector<int64_t>> shared;  // all that share it at some time
    int64_t bytes = 0, most = -1;
    std::vector<int64_t> fullest;
    for (const wire::HeapEvent& event : trace.events()) {
      if (event.kind() == kFree) {
        const int64_t first = known(first_of, event.buffer_id());
        if (--users[first] > 0) continue;
        users.erase(first);
        bytes -= buffer(first).size();
        continue;
      }
      const int64_t first =
          event.kind() == kShare ? known(first_of, event.share_with_canonical_id()) : event.buffer_id();
      first_of[event.buffer_id()] = first;
      shared[first].push_back(event.buffer_id());
      if (++users[first] == 1) bytes += buffer(first).size();
      if (bytes <= most) continue;
      most = bytes;
      fullest.clear();
      for (const auto& [live, count] : users) fullest.push_back(live);
    }
    plan_.fullest.clear();
    for (int64_t first : fullest) {
      LiveBuffer& live = plan_.fullest.emplace_back();
      live.bytes = buffer(first).size();
      for (int64_t id : shared[first]) live.values.push_back(place_of(id));
    }
    std::stable_sort(plan_.fullest.begin(), plan_.fullest.end(),
                     [](const LiveBuffer& a, const LiveBuffer& b) { return a.bytes > b.bytes; });
  }

  MemoryPlan plan_;
  std::map<int64_t, ValueAt> places_;                      // of instructions, by id
  std::map<int64_t, const wire::LogicalBuffer*> buffers_;  // by id
};

}  // namespace

size_t leaf_count(const Shape& shape) {
  if (shape.dtype != "tuple") return 1;
  size_t count = 0;
  for (const Shape& part : shape.parts) count += leaf_count(part);
  return count;
}

const Shape& leaf_of(const Shape& shape, size_t leaf) {
  if (shape.dtype != "tuple") return shape;
  for (const Shape& part : shape.parts) {
    const size_t count = leaf_count(part);
    if (leaf < count) return leaf_of(part, leaf);
    leaf -= count;
  }
  return shape;  // a table of pointers to parts
}

MemoryPlan read_memory_plan(std::string_view bytes) {
  wire::ModuleWithBuffers from;
  if (!from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !from.has_hlo_module() ||
      from.buffer_assignment().heap_simulator_traces_size() == 0) {
    user_error("{} bytes that are no program with a memory plan", bytes.size());
  }
  return Reader(from).read(from.buffer_assignment());
}

}  // namespace tethys::hlo
