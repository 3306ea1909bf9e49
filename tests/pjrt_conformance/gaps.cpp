// What a plugin cannot do. Each row names the plugins that lack something, with the error that they give for it; a
// plugin that is not named must be able to. So a newer plugin that closes a gap fails here, and the row goes.
#include <fmt/core.h>

#include <set>

#include "conformance.h"
#include "pjrt/topology.h"

namespace tethys::pjrt::conformance {
namespace {

// The minor version of the C API tells the plugins apart.
constexpr int kOlder = 81;   // xla-cpu-pjrt 0.0.1
constexpr int kNewer = 115;  // lammps-jax-pjrt-cpu 0.11.2

struct Gap {
  std::string name;
  std::set<int> lacking;
  std::function<void()> use;
  ErrorCode code;
  std::string text;  // part of the plugin's error
};
void PrintTo(const Gap& gap, std::ostream* out) { *out << gap.name; }

std::string scalar_text(const std::string& body, const std::string& result) {
  return to_text({.inputs = {"tensor<f32>"}, .body = body, .results = {result}, .result_types = {"tensor<f32>"}});
}

CompileOptions option(const std::string& name, const OptionValue& value) {
  CompileOptions options;
  options.env_option_overrides[name] = value;
  return options;
}

const std::vector<Gap>& gaps() {
  static const std::vector<Gap> kGaps = {
      {"output_memory_kinds",
       {kOlder},
       [] { one_device().compile(scalar_text("", "%arg0")).executable().output_memory_kinds(); },
       ErrorCode::Unimplemented,
       "GetOutputMemoryKinds is not supported"},
      {"cost_analysis",
       {kNewer},
       [] { one_device().compile(scalar_text("", "%arg0")).executable().cost_analysis(); },
       ErrorCode::Unimplemented,
       "GetCostAnalysis is not implemented"},
      {"collective_timeout_option",
       {kOlder},
       [] {
         one_device().compile(scalar_text("", "%arg0"), option("xla_cpu_collective_timeout_seconds", int64_t{60}));
       },
       ErrorCode::InvalidArgument,
       "No such compile option: 'xla_cpu_collective_timeout_seconds'"},
      {"placement_in_host_memory",
       {kOlder},
       [] {
         const LoadedExecutable program =
             one_device().compile(scalar_text("%r = \"stablehlo.custom_call\"(%arg0) {call_target_name = "
                                              "\"annotate_device_placement\", has_side_effect = "
                                              "true, mhlo.frontend_attributes = {_xla_buffer_placement = "
                                              "\"pinned_host\"}} : (tensor<f32>) -> tensor<f32>",
                                              "%r"));
         run(one_device(), program, {HostTensor::scalar(1.0f)});
       },
       ErrorCode::NotFound,
       "annotate_device_placement"},
      {"bool_constants_in_hexadecimal",
       {kOlder},
       [] {
         one_device().compile(to_text({.inputs = {},
                                       .body = "%r = \"stablehlo.constant\"() {value = dense<\"0x0100010001000101\"> : "
                                               "tensor<8xi1>} : () -> tensor<8xi1>",
                                       .results = {"%r"},
                                       .result_types = {"tensor<8xi1>"}}));
       },
       ErrorCode::Unknown,
       "elements hex data size is invalid"},
      {"topology_without_a_client",
       {kOlder, kNewer},
       [] { Topology(plugin(), "v6e:2x2"); },
       ErrorCode::Unimplemented,
       "Topology not supported for CPU compilation"},
  };
  return kGaps;
}

class Gaps : public testing::TestWithParam<Gap> {};
INSTANTIATE_TEST_SUITE_P(Plugin, Gaps, testing::ValuesIn(gaps()), [](const auto& info) { return info.param.name; });

TEST_P(Gaps, GiveTheirErrorWhereTheyAreKnownAndAreNoneElsewhere) {
  const Gap& gap = GetParam();
  if (!gap.lacking.contains(plugin()->api_version().minor)) {
    EXPECT_NO_THROW(gap.use());
    return;
  }
  const PjrtError error = error_of(gap.use);
  EXPECT_EQ(error.code(), gap.code) << error.what();
  EXPECT_NE(error.text().find(gap.text), std::string::npos) << error.text();
}

}  // namespace
}  // namespace tethys::pjrt::conformance
