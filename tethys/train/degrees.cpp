#include "train/degrees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "config/config.h"

namespace tethys {
namespace {

constexpr const char* kReplicate = "parallelism.data_parallel_replicate_degree";
constexpr const char* kShard = "parallelism.data_parallel_shard_degree";
constexpr const char* kContext = "parallelism.context_parallel_degree";
constexpr const char* kTensor = "parallelism.tensor_parallel_degree";
constexpr const char* kExpert = "parallelism.expert_parallel_degree";
constexpr const char* kExperts = "model.n_experts";
constexpr const char* kBalancer = "parallelism.context_parallel_load_balancer";
constexpr const char* kSequence = "parallelism.enable_sequence_parallel";

std::string divisors(int64_t n) {
  std::vector<int64_t> found;
  for (int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) found.push_back(d);
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

// What experts take of cp, dp_shard and tp, in this order.
std::array<int64_t, 3> experts_share(const Degrees& degrees) {
  std::array<int64_t, 3> share{};
  const int64_t sizes[] = {degrees.context, degrees.shard, degrees.tensor};
  int64_t rest = degrees.expert;
  for (size_t i = 0; i < share.size(); ++i) {
    share[i] = std::gcd(rest, sizes[i]);
    rest /= share[i];
  }
  return share;
}

// The hidden units that ranks of tp share, and how many ranks do: experts may take a part of them.
struct Shared {
  const char* units;
  int64_t ranks;
};
Shared shared_hidden_units(const Config& config, const Degrees& degrees) {
  if (config.get_int(kExperts) == 0) return {"model.ffn_dim", degrees.tensor};
  return {"model.expert_ffn_dim", degrees.tensor / experts_share(degrees)[2]};
}

// Ranks share query heads and hidden units evenly. Key and value heads they share, or several ranks have the same one.
bool heads_fit(const Config& config, const Degrees& degrees) {
  const int64_t kv = config.get_int("model.n_kv_heads"), tensor = degrees.tensor;
  const Shared hidden = shared_hidden_units(config, degrees);
  return config.get_int("model.n_heads") % tensor == 0 && config.get_int(hidden.units) % hidden.ranks == 0 &&
         (kv % tensor == 0 || tensor % kv == 0);
}

void check_tensor_parallel(const Config& config, const Degrees& degrees, std::optional<int64_t> devices) {
  if (heads_fit(config, degrees)) return;
  std::vector<int64_t> fitting;
  Degrees other = degrees;
  for (other.tensor = 1; other.tensor <= config.get_int("model.n_heads"); ++other.tensor) {
    const bool divides = !devices || *devices % (other.tensor * other.replicate * other.context) == 0;
    if (divides && heads_fit(config, other)) fitting.push_back(other.tensor);
  }
  user_error("tp: {} does not fit {}, {} and {}, which its ranks share; values that would work: {}",
             config.cite(kTensor), config.cite("model.n_heads"), config.cite("model.n_kv_heads"),
             config.cite(shared_hidden_units(config, degrees).units), fmt::join(fitting, ", "));
}

// Each rank has as many experts, and the ranks are those of dp_shard, cp and tp.
void check_expert_parallel(const Config& config, const Degrees& degrees) {
  if (degrees.expert == 1) return;
  const int64_t experts = config.get_int(kExperts), ranks = degrees.shard * degrees.context * degrees.tensor;
  if (experts == 0) {
    user_error("ep: {} is of models with experts, and {}; leave it out", config.cite(kExpert), config.cite(kExperts));
  }
  if (experts % degrees.expert == 0 && ranks % degrees.expert == 0) return;
  const std::string fitting = divisors(std::gcd(experts, ranks));
  if (experts % degrees.expert != 0) {
    user_error("ep: {} does not divide {}; values that would work: {}", config.cite(kExpert), config.cite(kExperts),
               fitting);
  }
  user_error(
      "ep: {} does not divide the {} devices of dp_shard {} × cp {} × tp {}, which it takes them from; values "
      "that would work: {}",
      config.cite(kExpert), ranks, degrees.shard, degrees.context, degrees.tensor, fitting);
}

void add_axis(std::vector<MeshAxis>& axes, const std::string& name, int64_t size, int64_t for_experts) {
  if (size > for_experts) axes.push_back({name, size / for_experts});
  if (for_experts > 1) axes.push_back({part_for_experts(name), for_experts});
}

// The tokens of a row are cut into equal parts.
void check_tokens(const Config& config, const Degrees& degrees) {
  const int64_t length = config.get_int("training.seq_len");
  const bool balanced = degrees.context > 1 && config.get_string(kBalancer) == "headtail";
  const int64_t pieces = balanced ? 2 * degrees.context : degrees.context;
  if (length % pieces != 0) {
    user_error("cp: {} is no multiple of {} pieces, which {}{} needs; {} would work", config.cite("training.seq_len"),
               pieces, config.cite(kContext), balanced ? fmt::format(" with {}", config.cite(kBalancer)) : "",
               length < pieces ? pieces : length / pieces * pieces);
  }
  if (!config.get_bool(kSequence) || degrees.tensor == 1) return;
  const int64_t parts = std::lcm(pieces, degrees.context * degrees.tensor);
  if (length % parts != 0) {
    user_error("tp: {} is no multiple of {}, which {} with {} needs; {} would work, or --no-{}",
               config.cite("training.seq_len"), parts, config.cite(kSequence), config.cite(kTensor),
               length < parts ? parts : length / parts * parts, kSequence);
  }
}

// What the sharding degree takes when the recipe leaves it open. The message begins with the axes whose degrees were
// given: those do not fit.
int64_t left_for_shards(const Config& config, const Degrees& degrees, int64_t devices) {
  const int64_t others = degrees.replicate * degrees.context * degrees.tensor;
  if (devices % others == 0) return devices / others;
  std::vector<std::string> axes, cited;
  const std::tuple<const char*, const char*, int64_t> given[] = {{"dp_replicate", kReplicate, degrees.replicate},
                                                                 {"cp", kContext, degrees.context},
                                                                 {"tp", kTensor, degrees.tensor}};
  for (const auto& [axis, option, degree] : given) {
    if (degree == 1) continue;
    axes.emplace_back(axis);
    cited.push_back(config.cite(option));
  }
  const bool one = axes.size() == 1;
  user_error(
      "{}: {} {} devices as a group, and {} do not come in such groups; values{} that would work: {}; or "
      "--device.count {}",
      fmt::join(axes, ", "), fmt::join(cited, " and "),
      one ? fmt::format("takes {}", others) : fmt::format("together take {}", others), devices,
      one ? "" : " of the product", divisors(devices), (devices + others - 1) / others * others);
}

}  // namespace

Degrees degrees_of(const Config& config, std::optional<int64_t> devices) {
  Degrees degrees{config.get_int(kReplicate), config.get_int(kShard), config.get_int(kContext), config.get_int(kTensor),
                  config.get_int(kExpert)};
  const int64_t others = degrees.replicate * degrees.context * degrees.tensor;
  if (degrees.shard == -1) {
    degrees.shard = devices ? left_for_shards(config, degrees, *devices)
                            : degrees.expert / std::gcd(degrees.expert, degrees.context * degrees.tensor);
  }
  check_expert_parallel(config, degrees);
  check_tensor_parallel(config, degrees, devices);
  check_tokens(config, degrees);
  if (devices && degrees.devices() != *devices) {
    const std::string fix = *devices % others == 0 ? fmt::format("{} = {} would work, or --device.count {}", kShard,
                                                                 *devices / others, degrees.devices())
                                                   : fmt::format("--device.count {} would work", degrees.devices());
    user_error("the degrees take {} devices (dp_replicate {} × dp_shard {} × cp {} × tp {}) and there are {}: {}",
               degrees.devices(), degrees.replicate, degrees.shard, degrees.context, degrees.tensor, *devices, fix);
  }
  return degrees;
}

Mesh mesh_of(const Degrees& degrees) {
  const auto [of_context, of_shard, of_tensor] = experts_share(degrees);
  std::vector<MeshAxis> axes;
  add_axis(axes, "dp_replicate", degrees.replicate, 1);
  add_axis(axes, "dp_shard", degrees.shard, of_shard);
  add_axis(axes, "cp", degrees.context, of_context);
  add_axis(axes, "tp", degrees.tensor, of_tensor);
  return Mesh(axes);
}

PlanOptions plan_options_of(const Config& config, const Mesh& mesh) {
  const int64_t ranks = mesh.size_of("tp");
  return {.sequence_parallel = config.get_bool(kSequence) && ranks > 1,
          .whole_kv_heads = config.get_int("model.n_kv_heads") % ranks != 0,
          .experts_over_tensor = !mesh.find("tp")};
}

StepRows step_rows_of(const Config& config, const Degrees& degrees) {
  const int64_t rows = config.get_int("training.local_batch_size") * degrees.data();
  const int64_t global = config.get_int("training.global_batch_size");
  if (global == -1) return {1, rows};
  if (global % rows == 0) return {global / rows, rows};
  const int64_t below = global / rows * rows;
  user_error(
      "{} is no multiple of a microbatch: {} × {} data-parallel ranks = {} rows; {}{} would work, or other "
      "data-parallel degrees",
      config.cite("training.global_batch_size"), config.cite("training.local_batch_size"), degrees.data(), rows,
      below > 0 ? fmt::format("{} or ", below) : "", below + rows);
}

}  // namespace tethys
