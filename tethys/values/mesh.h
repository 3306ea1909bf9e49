// Mesh: named axes over a list of devices. A plain value: it needs no device and no client, so a program can be placed
// on 1,024 chips that nobody has.
//
//   Mesh mesh({{"dp_replicate", 2}, {"dp_shard", 2}});
//   mesh.groups({1});   // along dp_shard: {{0, 1}, {2, 3}}
//
// Experts may be cut over axes that data, tokens or matrices are cut over too, or over a part of one. An axis X or the
// part of it that experts are cut over is then named X_ep, and follows the rest of X: dp_shard=2,dp_shard_ep=2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tethys {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};

class Mesh {
 public:
  // One device and no axes: what an unsharded program runs on.
  Mesh() = default;

  // Axes major first. Device ids are 0 … size-1 in row-major order of the axes. `process_count` processes hold equal,
  // contiguous runs of them and this one is `process_index`. UserError if a size is below 1, a name is repeated, or the
  // processes do not divide the devices.
  explicit Mesh(std::vector<MeshAxis> axes, int64_t process_index = 0, int64_t process_count = 1);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  int64_t rank() const { return static_cast<int64_t>(axes_.size()); }
  int64_t size() const;
  int64_t process_index() const { return process_index_; }
  int64_t process_count() const { return process_count_; }

  // The positions (0 … size-1) of the devices that this process can address.
  std::vector<int64_t> addressable() const;

  // The position of the axis in axes(), if the mesh has it.
  std::optional<int64_t> find(std::string_view name) const;
  // The positions of the axis and of its part for experts, those that are there.
  std::vector<int64_t> find_all(std::string_view name) const;
  // The size of both together; 1 if the mesh has no such axis.
  int64_t size_of(std::string_view name) const;
  // How many devices differ only along the given axes.
  int64_t size_over(const std::vector<int64_t>& axes) const;
  // Whether experts are cut over axis number `axis`.
  bool is_for_experts(int64_t axis) const;

  // The index of device `position` along axis number `axis`.
  int64_t coordinate(int64_t position, int64_t axis) const;

  // The groups of devices that differ only along the given axes, each in row-major order of those axes as listed: the
  // replica_groups of a collective over them.
  std::vector<std::vector<int64_t>> groups(const std::vector<int64_t>& axes) const;

  bool operator==(const Mesh&) const = default;

 private:
  std::vector<MeshAxis> axes_;
  int64_t process_index_ = 0;
  int64_t process_count_ = 1;
};

// What the part of axis `name` that experts are cut over is called.
std::string part_for_experts(std::string_view name);

// "dp_replicate=2,dp_shard=2"; "one device" for an empty mesh.
std::string to_string(const Mesh& mesh);

}  // namespace tethys
