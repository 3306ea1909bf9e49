// For tests of placement: cuts tensors into the parts of devices on the host, runs a placed program on virtual CPU
// devices, and puts the parts of its results together again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "pjrt/client.h"
#include "pjrt/executable.h"
#include "transforms/lower.h"

namespace tethys::placement_testing {

inline int64_t flat_index(const Dims& dims, const Dims& index) {
  int64_t flat = 0;
  for (size_t d = 0; d < dims.size(); ++d) flat = flat * dims[d] + index[d];
  return flat;
}

// Calls visit(index within the part, index in the whole) for each element of the part that `position` holds.
template <typename Visit>
void for_each_element(const Dims& global, const Placement& placement, const Mesh& mesh, int64_t position, Visit visit) {
  const Dims local = local_dims(global, placement, mesh);
  const Dims offsets = local_offsets(global, placement, mesh, position);
  for (int64_t i = 0; i < element_count(local); ++i) {
    int64_t rest = i;
    Dims at(local.size());
    for (size_t d = local.size(); d-- > 0; rest /= local[d]) at[d] = offsets[d] + rest % local[d];
    visit(i, flat_index(global, at));
  }
}

// This device's number among those whose summands make up a Partial, and how many there are.
inline std::pair<int64_t, int64_t> summand(const Placement& placement, const Mesh& mesh, int64_t position) {
  int64_t number = 0, count = 1;
  for (int64_t axis = 0; axis < mesh.rank(); ++axis) {
    if (!placement[axis].is_partial()) continue;
    number = number * mesh.axes()[axis].size + mesh.coordinate(position, axis);
    count *= mesh.axes()[axis].size;
  }
  return {number, count};
}

// The part of each device. A sum is of multiples of one half but for its first summand; of a maximum all summands but
// the last are lower, and of a minimum higher.
inline std::vector<HostTensor> parts_of(const HostTensor& whole, const Placement& placement, const Mesh& mesh) {
  const std::vector<double> values = whole.to_doubles();
  const auto kind = std::find_if(placement.begin(), placement.end(), [](const auto& a) { return a.is_partial(); });
  const Reduction reduction = kind == placement.end() ? Reduction::Sum : kind->reduction;
  const double step = is_floating(whole.type().dtype) ? 0.5 : 1;
  auto noise = [&](int64_t element, int64_t number) {
    return step * static_cast<double>((element * 7 + number * 3) % 5 - 2);
  };
  std::vector<HostTensor> parts;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    const TensorType type = local_type(whole.type(), placement, mesh);
    std::vector<double> part(type.elements());
    const auto [number, count] = summand(placement, mesh, position);
    for_each_element(whole.type().dims, placement, mesh, position, [&, n = number, c = count](int64_t i, int64_t at) {
      double value = values[at];
      if (c > 1 && reduction == Reduction::Sum) {
        for (int64_t k = 1; k < c; ++k) value -= noise(at, k);
        if (n > 0) value = noise(at, n);
      } else if (c > 1 && n < c - 1) {
        value += (reduction == Reduction::Max ? -1.0 : 1.0) * static_cast<double>(n + 1);
      }
      part[i] = value;
    });
    parts.push_back(HostTensor::from_doubles(type, part));
  }
  return parts;
}

// The wholes that the devices hold: one for each choice of coordinates along the axes that replicate.
inline std::vector<std::vector<double>> wholes_of(const std::vector<HostTensor>& parts, const Dims& dims,
                                                  const Placement& placement, const Mesh& mesh) {
  std::map<std::vector<int64_t>, std::vector<double>> wholes;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    std::vector<int64_t> copy;
    Reduction reduction = Reduction::Sum;
    for (int64_t axis = 0; axis < mesh.rank(); ++axis) {
      if (placement[axis].is_replicate()) copy.push_back(mesh.coordinate(position, axis));
      if (placement[axis].is_partial()) reduction = placement[axis].reduction;
    }
    auto& whole = wholes.try_emplace(copy, element_count(dims), std::nan("")).first->second;
    const std::vector<double> part = parts[position].to_doubles();
    EXPECT_EQ(parts[position].type().dims, local_dims(dims, placement, mesh));
    for_each_element(dims, placement, mesh, position, [&](int64_t i, int64_t at) {
      double& w = whole[at];
      if (std::isnan(w))
        w = part[i];
      else if (reduction == Reduction::Sum)
        w += part[i];
      else
        w = reduction == Reduction::Max ? std::max(w, part[i]) : std::min(w, part[i]);
    });
  }
  std::vector<std::vector<double>> result;
  for (auto& [copy, whole] : wholes) result.push_back(std::move(whole));
  return result;
}

inline const pjrt::Client& cpu_client(int64_t devices) {
  static std::map<int64_t, std::unique_ptr<pjrt::Client>> clients;
  auto& client = clients[devices];
  if (!client)
    client = std::make_unique<pjrt::Client>(pjrt::Plugin::load(TETHYS_SOURCE_DIR "/.deps/plugins/xla_cpu.so"),
                                            pjrt::ClientOptions{.device_count = devices, .extra = {}});
  return *client;
}

// Runs the program on whole inputs, cut as it wants them; for each result, the wholes that come out.
inline std::vector<std::vector<std::vector<double>>> run(const Program& program,
                                                         const std::vector<HostTensor>& inputs) {
  const Mesh& mesh = program.mesh;
  const pjrt::Client& client = cpu_client(mesh.size());
  pjrt::CompileOptions options;
  options.num_partitions = mesh.size();
  options.use_spmd_partitioning = mesh.size() > 1;
  options.env_option_overrides = {{"xla_backend_optimization_level", int64_t{0}}};  // most of the time is compilation
  const pjrt::LoadedExecutable executable = client.compile(program.text, options);
  std::vector<std::vector<pjrt::Buffer>> buffers(mesh.size());
  std::vector<std::vector<pjrt::Argument>> arguments(mesh.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<HostTensor> parts = parts_of(inputs[i], program.inputs[i].placement, mesh);
    for (int64_t d = 0; d < mesh.size(); ++d) buffers[d].push_back(pjrt::Buffer::from_host(client, parts[d], d));
  }
  for (int64_t d = 0; d < mesh.size(); ++d) {
    for (const pjrt::Buffer& buffer : buffers[d]) arguments[d].emplace_back(buffer);
  }
  const std::vector<std::vector<pjrt::Buffer>> results = executable.execute(arguments);
  std::vector<std::vector<std::vector<double>>> wholes;
  for (size_t r = 0; r < program.outputs.size(); ++r) {
    std::vector<HostTensor> parts;
    for (int64_t d = 0; d < mesh.size(); ++d) parts.push_back(results[d][r].to_host());
    wholes.push_back(wholes_of(parts, program.outputs[r].type.dims, program.outputs[r].placement, mesh));
  }
  return wholes;
}

// Every element within `tolerance` of the expected one, relative to the largest of them.
inline void expect_close(const std::vector<double>& got, const std::vector<double>& expected, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double scale = 1;
  for (double e : expected) {
    if (std::isfinite(e)) scale = std::max(scale, std::abs(e));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    ASSERT_NEAR(got[i], expected[i], tolerance * scale) << what << ", element " << i;
  }
}

}  // namespace tethys::placement_testing
