#include "pjrt/compile_options.h"

#include <compile_options.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "base/error.h"

namespace tethys::pjrt {
namespace {

// XLA's mark for "no device in particular".
constexpr int64_t kAnyDevice = -1;

constexpr int64_t kCollectiveTimeoutSeconds = 3600;

struct SetValue {
  proto::OptionValue& out;
  void operator()(bool v) const { out.set_flag(v); }
  void operator()(int64_t v) const { out.set_integer(v); }
  void operator()(double v) const { out.set_real(v); }
  void operator()(const std::string& v) const { out.set_text(v); }
};

void fill_assignment(const CompileOptions& options, proto::DeviceAssignment& out) {
  const auto& assignment = *options.device_assignment;
  require(static_cast<int64_t>(assignment.size()) == options.num_partitions,
          "a device assignment of {} partitions for a program of {}", assignment.size(), options.num_partitions);
  out.set_replicas(static_cast<int32_t>(options.num_replicas));
  out.set_partitions(static_cast<int32_t>(options.num_partitions));
  for (const std::vector<int64_t>& replicas : assignment) {
    require(static_cast<int64_t>(replicas.size()) == options.num_replicas,
            "a device assignment of {} replicas for a program of {}", replicas.size(), options.num_replicas);
    out.add_devices()->mutable_replica_devices()->Add(replicas.begin(), replicas.end());
  }
}

}  // namespace

OptionOverrides cpu_collective_timeouts() {
  return {{"xla_cpu_collective_call_warn_stuck_seconds", kCollectiveTimeoutSeconds},
          {"xla_cpu_collective_call_terminate_timeout_seconds", kCollectiveTimeoutSeconds},
          {"xla_cpu_collective_timeout_seconds", kCollectiveTimeoutSeconds}};
}

std::string serialize(const CompileOptions& options) {
  proto::CompileOptions message;
  proto::BuildOptions& build = *message.mutable_build();
  build.set_device_ordinal(kAnyDevice);
  build.set_num_replicas(options.num_replicas);
  build.set_num_partitions(options.num_partitions);
  build.set_use_spmd_partitioning(options.use_spmd_partitioning);
  if (options.device_assignment) fill_assignment(options, *build.mutable_device_assignment());
  for (const auto& [name, value] : options.env_option_overrides) {
    std::visit(SetValue{(*message.mutable_env_option_overrides())[name]}, value);
  }
  // Maps are written in hash order unless asked otherwise.
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    require(message.SerializeToCodedStream(&coded), "compile options do not serialize");
  }
  return bytes;
}

}  // namespace tethys::pjrt
