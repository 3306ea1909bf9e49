#include "train/compiler_flags.h"

#include <string>
#include <utility>

#include "config/config.h"
#include "train/machine.h"

namespace tethys {
namespace {

// What libtpu 0.0.52 does with these was read off what it compiled, for slices of each kind.
struct Flag {
  std::string_view option;
  std::string_view kinds;  // of TPU, between spaces
  const char* name;
};
constexpr Flag kFlags[] = {
    // A gather of few rows becomes an all-reduce of zeros and its part otherwise, which moves twice as much and waits.
    {"compile.async_gathers", " v4 v5e v5p v6e tpu7x ", "xla_tpu_prefer_async_allgather_to_allreduce"},
    // Of kinds with a SparseCore; on tpu7x it gathers by itself, and v5e gathers inside of fusions.
    {"compile.async_gathers", " v4 v5p v6e ", "xla_tpu_enable_sparse_core_collective_offload_all_gather"},
    {"compile.async_gathers", " v4 v5p v6e ", "xla_tpu_enable_sparse_core_collective_offload_2d_all_gather"},
    {"compile.async_gathers", " v4 v5p ", "xla_tpu_enable_sparse_core_collective_offload_3d_all_gather"},
    // Without it one collective at a time is on its way there, and the others start too late to be beside anything.
    {"compile.async_gathers", " v4 v5p v6e tpu7x ", "xla_tpu_enable_sparse_core_offload_queuing_in_lhs"},
    // Over more than one dimension of the grid of chips a reduce-scatter becomes a full all-reduce and a slice
    // otherwise, also on kinds that do not run it beside compute.
    {"compile.async_reductions", " v4 v5e v5p v6e ", "xla_tpu_enable_sparse_core_collective_offload_reduce_scatter"},
    {"compile.async_reductions", " v4 v5e v5p v6e ", "xla_tpu_enable_sparse_core_collective_offload_nd_reduce_scatter"},
};

// A client's names of the kinds; the longer ones come first.
constexpr std::pair<std::string_view, std::string_view> kClientNames[] = {
    {"TPU v5 lite", "v5e"}, {"TPU v5e", "v5e"}, {"TPU v4", "v4"},   {"TPU v5", "v5p"},
    {"TPU v6", "v6e"},      {"TPU7x", "tpu7x"}, {"TPU v7", "tpu7x"}};

std::string kind_of(std::string_view device_kind) {
  for (const auto& [client, kind] : kClientNames) {
    if (device_kind.find(client) != std::string_view::npos) return std::string(kind);
  }
  return std::string(device_kind);
}

}  // namespace

pjrt::OptionOverrides compiler_flags(const Config& config, std::string_view device_kind) {
  pjrt::OptionOverrides flags;
  const std::string kind = kind_of(device_kind);
  for (const Flag& flag : kFlags) {
    const bool of_kind = flag.kinds.find(" " + kind + " ") != std::string_view::npos;
    if (of_kind && config.get_bool(flag.option)) flags[flag.name] = true;
  }
  const int64_t vmem = config.get_int("compile.scoped_vmem_kib");
  if (vmem > 0 && config.get_string("device.platform") == "tpu") flags["xla_tpu_scoped_vmem_limit_kib"] = vmem;
  for (const auto& [name, value] : compile_options_of(config)) flags[name] = value;
  return flags;
}

}  // namespace tethys
