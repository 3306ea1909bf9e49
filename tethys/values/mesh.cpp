#include "values/mesh.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace tethys {
namespace {

constexpr std::string_view kForExperts = "_ep";

}  // namespace

Mesh::Mesh(std::vector<MeshAxis> axes, int64_t process_index, int64_t process_count)
    : axes_(std::move(axes)), process_index_(process_index), process_count_(process_count) {
  std::set<std::string> names;
  for (const MeshAxis& axis : axes_) {
    if (axis.size < 1) user_error("mesh axis '{}' has size {}; sizes are at least 1", axis.name, axis.size);
    if (!names.insert(axis.name).second) user_error("mesh axis '{}' is named twice", axis.name);
  }
  if (process_count < 1 || size() % process_count != 0) {
    user_error("{} processes do not divide the {} devices of mesh {}", process_count, size(), to_string(*this));
  }
  if (process_index < 0 || process_index >= process_count) {
    user_error("process index {} is outside 0 to {}", process_index, process_count - 1);
  }
}

int64_t Mesh::size() const {
  int64_t n = 1;
  for (const MeshAxis& axis : axes_) n *= axis.size;
  return n;
}

std::vector<int64_t> Mesh::addressable() const {
  const int64_t per_process = size() / process_count_;
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < per_process; ++i) positions.push_back(process_index_ * per_process + i);
  return positions;
}

std::optional<int64_t> Mesh::find(std::string_view name) const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return static_cast<int64_t>(i);
  }
  return std::nullopt;
}

std::vector<int64_t> Mesh::find_all(std::string_view name) const {
  std::vector<int64_t> found;
  for (const std::string& part : {std::string(name), part_for_experts(name)}) {
    if (const auto axis = find(part)) found.push_back(*axis);
  }
  return found;
}

int64_t Mesh::size_of(std::string_view name) const { return size_over(find_all(name)); }

int64_t Mesh::size_over(const std::vector<int64_t>& axes) const {
  int64_t size = 1;
  for (int64_t axis : axes) size *= axes_.at(axis).size;
  return size;
}

bool Mesh::is_for_experts(int64_t axis) const { return axes_.at(axis).name.ends_with(kForExperts); }

int64_t Mesh::coordinate(int64_t position, int64_t axis) const {
  int64_t stride = 1;
  for (size_t i = axes_.size() - 1; i > static_cast<size_t>(axis); --i) stride *= axes_[i].size;
  return position / stride % axes_[axis].size;
}

std::vector<std::vector<int64_t>> Mesh::groups(const std::vector<int64_t>& axes) const {
  const int64_t group_size = size_over(axes);
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> keys;
  for (int64_t position = 0; position < size(); ++position) {
    int64_t key = 0;
    int64_t place = 0;
    for (int64_t axis = 0; axis < rank(); ++axis) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end())
        key = key * axes_[axis].size + coordinate(position, axis);
    }
    for (int64_t axis : axes) place = place * axes_[axis].size + coordinate(position, axis);
    auto found = std::find(keys.begin(), keys.end(), key);
    if (found == keys.end()) {
      keys.push_back(key);
      groups.emplace_back(group_size);
      found = keys.end() - 1;
    }
    groups[found - keys.begin()][place] = position;
  }
  return groups;
}

std::string part_for_experts(std::string_view name) { return fmt::format("{}{}", name, kForExperts); }

std::string to_string(const Mesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes())
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, axis.size);
  return text.empty() ? "one device" : text;
}

}  // namespace tethys
