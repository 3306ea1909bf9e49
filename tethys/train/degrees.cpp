#include "train/degrees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <vector>

#include "base/error.h"
#include "config/config.h"

namespace tethys {
namespace {

constexpr const char* kReplicate = "parallelism.data_parallel_replicate_degree";
constexpr const char* kShard = "parallelism.data_parallel_shard_degree";
constexpr const char* kTensor = "parallelism.tensor_parallel_degree";

std::string divisors(int64_t n) {
  std::vector<int64_t> found;
  for (int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) found.push_back(d);
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

void check_tensor_parallel(const Config& config, int64_t degree) {
  int64_t common = 0;
  for (const char* name : {"model.n_heads", "model.n_kv_heads", "model.ffn_dim"}) {
    common = std::gcd(common, config.get_int(name));
  }
  for (const char* name : {"model.n_heads", "model.n_kv_heads", "model.ffn_dim"}) {
    if (config.get_int(name) % degree == 0) continue;
    user_error("tp: {} does not divide {}; values that would work: {}", config.cite(kTensor), config.cite(name),
               divisors(common));
  }
}

// What the sharding degree takes when the recipe leaves it open.
int64_t left_for_shards(const Config& config, int64_t others, int64_t devices) {
  if (devices % others == 0) return devices / others;
  user_error(
      "dp_shard: {} and {} take {} of every {} devices, which does not divide evenly; values of their product that "
      "would work: {}",
      config.cite(kReplicate), config.cite(kTensor), others, devices, divisors(devices));
}

}  // namespace

Degrees degrees_of(const Config& config, std::optional<int64_t> devices) {
  Degrees degrees{config.get_int(kReplicate), config.get_int(kShard), config.get_int(kTensor)};
  check_tensor_parallel(config, degrees.tensor);
  const int64_t others = degrees.replicate * degrees.tensor;
  if (degrees.shard == -1) degrees.shard = devices ? left_for_shards(config, others, *devices) : 1;
  if (devices && degrees.devices() != *devices) {
    const std::string fix = *devices % others == 0 ? fmt::format("{} = {} would work, or --device.count {}", kShard,
                                                                 *devices / others, degrees.devices())
                                                   : fmt::format("--device.count {} would work", degrees.devices());
    user_error("the degrees take {} devices (dp_replicate {} × dp_shard {} × tp {}) and there are {}: {}",
               degrees.devices(), degrees.replicate, degrees.shard, degrees.tensor, *devices, fix);
  }
  return degrees;
}

Mesh mesh_of(const Degrees& degrees) {
  std::vector<MeshAxis> axes;
  if (degrees.replicate > 1) axes.push_back({"dp_replicate", degrees.replicate});
  if (degrees.shard > 1) axes.push_back({"dp_shard", degrees.shard});
  if (degrees.tensor > 1) axes.push_back({"tp", degrees.tensor});
  return Mesh(axes);
}

StepRows step_rows_of(const Config& config, const Degrees& degrees) {
  const int64_t rows = config.get_int("training.local_batch_size") * degrees.data();
  const int64_t global = config.get_int("training.global_batch_size");
  if (global == -1) return {1, rows};
  if (global % rows == 0) return {global / rows, rows};
  const int64_t below = global / rows * rows;
  user_error("{} is no multiple of a microbatch: {} × {} data-parallel ranks = {} rows; {}{} would work",
             config.cite("training.global_batch_size"), config.cite("training.local_batch_size"), degrees.data(), rows,
             below > 0 ? fmt::format("{} or ", below) : "", below + rows);
}

}  // namespace tethys
