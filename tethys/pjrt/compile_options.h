// CompileOptions: how a program is spread over devices, and compiler flags as typed values. Flags never travel through
// the environment: a wrong name is then a clean PjrtError.
//
//   CompileOptions{.num_partitions = 8, .use_spmd_partitioning = true,
//                  .env_option_overrides = {{"xla_cpu_enable_fast_math", false}}}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tethys::pjrt {

using OptionValue = std::variant<bool, int64_t, double, std::string>;
using OptionOverrides = std::map<std::string, OptionValue>;

struct CompileOptions {
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  // Needed when num_partitions > 1: one program for all partitions.
  bool use_spmd_partitioning = false;
  // The id of the device that runs replica r of partition p at [p][r]. Not set, the client assigns in order of ids.
  std::optional<std::vector<std::vector<int64_t>>> device_assignment = std::nullopt;
  // Compiler flags by name. They win over our defaults.
  OptionOverrides env_option_overrides = {};

  bool operator==(const CompileOptions&) const = default;
  int64_t device_count() const { return num_replicas * num_partitions; }
};

// How long collectives of virtual CPU devices may wait for each other: with more devices than cores the plugin's own
// deadlines (tens of seconds) kill programs that only are slow. Client::compile adds those that the plugin knows.
OptionOverrides cpu_collective_timeouts();

// The serialized CompileOptionsProto. The same options give the same bytes, so they can be a cache key. InternalError
// if the device assignment does not fit the counts.
std::string serialize(const CompileOptions& options);

}  // namespace tethys::pjrt
