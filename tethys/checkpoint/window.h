// Window: a box within a tensor's index space, and moving bytes between boxes. All that resharding needs: a piece that
// was saved and a shard that is wanted are both windows, and what they share is copied.
//
//   owned_windows({7, 4}, {shard(0)}, Mesh({{"dp_shard", 2}}));   // {0: [0:4,0:4]}, {1: [4:7,0:4]}, padding cut off
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "values/mesh.h"
#include "values/placement.h"
#include "values/shape.h"

namespace tethys {

struct Window {
  Dims offset;
  Dims extent;

  bool operator==(const Window&) const = default;
  int64_t elements() const { return element_count(extent); }
};

// All of a tensor of these dims.
Window whole(const Dims& dims);

// "[0:4,8:16]"; "[]" for rank 0.
std::string to_string(const Window& window);

// What two windows of one tensor share; nothing if they share no element.
std::optional<Window> intersect(const Window& a, const Window& b);

// Copies the elements that two windows of one tensor share. Each buffer holds its window, row-major; elements of
// `element` bytes.
void copy_shared(size_t element, const Window& from, std::span<const std::byte> source, const Window& to,
                 std::span<std::byte> target);

// Where `inner` begins in the bytes of `outer`, which contains it, if there it is one run; elements of `element` bytes.
std::optional<size_t> run_within(size_t element, const Window& inner, const Window& outer);

// The bytes of a tensor whose dims come from outside; nothing if one is negative or the product overflows.
std::optional<int64_t> checked_bytes(DType dtype, const Dims& dims);

// The window that a mesh position saves of a tensor.
struct OwnedWindow {
  int64_t position = 0;
  Window window;
  bool operator==(const OwnedWindow&) const = default;
};

// Who saves what of a tensor placed on a mesh, over all positions in order: each element exactly once, by the lowest
// position that holds it, without the padding of a dim that does not divide. A process saves those of its addressable
// positions. Of an empty tensor position 0 saves the empty whole. InternalError on a Partial placement, which holds no
// value to save.
std::vector<OwnedWindow> owned_windows(const Dims& dims, const Placement& placement, const Mesh& mesh);

// The window that the device at `position` stores, padding included: it may reach past `dims`.
Window stored_window(const Dims& dims, const Placement& placement, const Mesh& mesh, int64_t position);

}  // namespace tethys
