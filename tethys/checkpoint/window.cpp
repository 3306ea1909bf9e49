#include "checkpoint/window.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <set>

#include "base/error.h"

namespace tethys {
namespace {

// The elements between neighbours along each dim of a row-major buffer.
Dims strides_of(const Dims& extent) {
  Dims strides(extent.size(), 1);
  for (size_t d = extent.size(); d-- > 1;) strides[d - 1] = strides[d] * extent[d];
  return strides;
}

// Where an index of the tensor lies in a window's buffer.
int64_t position_in(const Window& window, const Dims& strides, const Dims& index) {
  int64_t position = 0;
  for (size_t d = 0; d < index.size(); ++d) position += (index[d] - window.offset[d]) * strides[d];
  return position;
}

// The count of leading dims to step through one by one: those after them are one run in both buffers.
size_t stepped_dims(const Window& shared, const Window& from, const Window& to) {
  size_t d = shared.extent.size();
  while (d > 0 && shared.extent[d - 1] == from.extent[d - 1] && shared.extent[d - 1] == to.extent[d - 1]) --d;
  return d > 0 ? d - 1 : 0;
}

// Two threads copy faster than one where the memory is: each waits for what it touches first.
void copy_bytes(std::byte* target, const std::byte* source, size_t size) {
  constexpr size_t kWorthAThread = size_t{4} << 20;
  if (size < kWorthAThread) {
    std::memcpy(target, source, size);
    return;
  }
  const size_t half = size / 2;
  const std::future<void> second =
      std::async(std::launch::async, [=] { std::memcpy(target + half, source + half, size - half); });
  std::memcpy(target, source, half);
}

}  // namespace

Window whole(const Dims& dims) { return {Dims(dims.size(), 0), dims}; }

std::string to_string(const Window& window) {
  std::vector<std::string> ranges;
  for (size_t d = 0; d < window.extent.size(); ++d) {
    ranges.push_back(fmt::format("{}:{}", window.offset[d], window.offset[d] + window.extent[d]));
  }
  return fmt::format("[{}]", fmt::join(ranges, ","));
}

std::optional<Window> intersect(const Window& a, const Window& b) {
  require(a.extent.size() == b.extent.size(), "windows {} and {} of one tensor", to_string(a), to_string(b));
  Window shared = a;
  for (size_t d = 0; d < a.extent.size(); ++d) {
    const int64_t begin = std::max(a.offset[d], b.offset[d]);
    const int64_t end = std::min(a.offset[d] + a.extent[d], b.offset[d] + b.extent[d]);
    if (begin >= end) return std::nullopt;
    shared.offset[d] = begin;
    shared.extent[d] = end - begin;
  }
  return shared;
}

void copy_shared(size_t element, const Window& from, std::span<const std::byte> source, const Window& to,
                 std::span<std::byte> target) {
  require(source.size() == static_cast<size_t>(from.elements()) * element, "{} bytes for window {} of elements of {}",
          source.size(), to_string(from), element);
  require(target.size() == static_cast<size_t>(to.elements()) * element, "{} bytes for window {} of elements of {}",
          target.size(), to_string(to), element);
  const std::optional<Window> shared = intersect(from, to);
  if (!shared) return;
  const size_t stepped = stepped_dims(*shared, from, to);
  int64_t run = 1;
  for (size_t d = stepped; d < shared->extent.size(); ++d) run *= shared->extent[d];
  const Dims from_strides = strides_of(from.extent), to_strides = strides_of(to.extent);
  Dims index = shared->offset;
  while (true) {
    copy_bytes(target.data() + static_cast<size_t>(position_in(to, to_strides, index)) * element,
               source.data() + static_cast<size_t>(position_in(from, from_strides, index)) * element,
               static_cast<size_t>(run) * element);
    size_t d = stepped;
    while (d > 0 && ++index[d - 1] == shared->offset[d - 1] + shared->extent[d - 1]) {
      index[d - 1] = shared->offset[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

std::optional<size_t> run_within(size_t element, const Window& inner, const Window& outer) {
  if (inner.elements() == 0) return 0;
  require(intersect(inner, outer) == inner, "window {} in {}", to_string(inner), to_string(outer));
  // All of the dims after the first that is cut, and one of each before it.
  const size_t cut = stepped_dims(inner, inner, outer);
  for (size_t d = 0; d < cut; ++d) {
    if (inner.extent[d] != 1) return std::nullopt;
  }
  return static_cast<size_t>(position_in(outer, strides_of(outer.extent), inner.offset)) * element;
}

std::optional<int64_t> checked_bytes(DType dtype, const Dims& dims) {
  int64_t bytes = static_cast<int64_t>(size_of(dtype));
  bool empty = false;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    if (d == 0) empty = true;
    // An empty tensor must not hide a product that would overflow: its other dims are used as sizes too.
    if (d > 0 && __builtin_mul_overflow(bytes, d, &bytes)) return std::nullopt;
  }
  return empty ? 0 : bytes;
}

Window stored_window(const Dims& dims, const Placement& placement, const Mesh& mesh, int64_t position) {
  const Dims padded = padded_dims(dims, placement, mesh);
  return {local_offsets(padded, placement, mesh, position), local_dims(padded, placement, mesh)};
}

std::vector<OwnedWindow> owned_windows(const Dims& dims, const Placement& placement, const Mesh& mesh) {
  require(!has_partial(placement), "a checkpoint of a tensor that is {}", to_string(placement));
  if (element_count(dims) == 0) return {{0, whole(dims)}};
  std::vector<OwnedWindow> owned;
  std::set<Dims> taken;  // windows of one placement are equal or disjoint: the offset tells them apart
  for (int64_t position = 0; position < mesh.size(); ++position) {
    const std::optional<Window> window = intersect(stored_window(dims, placement, mesh, position), whole(dims));
    if (window && taken.insert(window->offset).second) owned.push_back({position, *window});
  }
  return owned;
}

}  // namespace tethys
