// Executables as bytes: written by one client, loaded by another.
#include <fmt/core.h>

#include "conformance.h"
#include "pjrt/live_handles.h"

namespace tethys::pjrt::conformance {
namespace {

std::string step_text() {
  return to_text(
      {.inputs = {"tensor<256xf32>"},
       .body = "%r = \"stablehlo.add\"(%arg0, %arg0) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>",
       .results = {"%r"},
       .result_types = {"tensor<256xf32>"},
       .input_attributes = {"tf.aliasing_output = 0 : i32"}});
}

TEST(Serialize, ALoadedProgramRunsAndKeepsItsDonationAndTypes) {
  const std::string bytes = one_device().compile(step_text()).executable().serialize();
  const Client other(plugin());
  const LoadedExecutable step = other.load(bytes);
  EXPECT_EQ(step.executable().output_types(), (std::vector<TensorType>{{DType::F32, {256}}}));
  EXPECT_EQ(step.executable().memory_stats().aliased, 1024);
  std::vector<std::vector<Argument>> arguments(1);
  arguments[0].emplace_back(
      Donated(Buffer::from_host(other, HostTensor::of<float>({256}, std::vector<float>(256, 3)))));
  EXPECT_EQ(step.execute(arguments)[0][0].to_host().to_doubles(), std::vector<double>(256, 6.0));
  EXPECT_TRUE(arguments[0][0].buffer().empty());
}

TEST(Serialize, AProgramOfEightPartitionsWithACollectiveLoads) {
  const std::string text = to_text(
      {.inputs = {"tensor<1xf32>"},
       .body = "%r = \"stablehlo.all_gather\"(%arg0) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3], "
               "[4, 5, 6, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
               "use_global_device_ids} : (tensor<1xf32>) -> tensor<4xf32>",
       .results = {"%r"},
       .result_types = {"tensor<4xf32>"},
       .manual = true});
  const LoadedExecutable compiled =
      eight_devices().compile(text, {.num_partitions = kDevices, .use_spmd_partitioning = true});
  const LoadedExecutable loaded = eight_devices().load(compiled.executable().serialize());
  EXPECT_EQ(loaded.executable().num_partitions(), kDevices);
  EXPECT_EQ(loaded.devices(), compiled.devices());
  std::vector<std::vector<HostTensor>> arguments;
  for (int d = 0; d < kDevices; ++d) arguments.push_back({HostTensor::of<float>({1}, {static_cast<float>(d)})});
  const auto results = run_all(eight_devices(), loaded, arguments);
  EXPECT_EQ(results[2][0], HostTensor::of<float>({4}, {0, 1, 2, 3}));
  EXPECT_EQ(results[7][0], HostTensor::of<float>({4}, {4, 5, 6, 7}));
}

TEST(Serialize, BytesThatAreNoProgramAreRefusedAndLeaveNothingBehind) {
  const LiveHandles before = live_handles();
  const PjrtError error = error_of([] { one_device().load("these bytes are no program"); });
  EXPECT_EQ(error.function(), "PJRT_Executable_DeserializeAndLoad");
  EXPECT_FALSE(error.text().empty());
  EXPECT_EQ(live_handles(), before);
}

TEST(Serialize, ACutOffProgramIsRefused) {
  const std::string bytes = one_device().compile(step_text()).executable().serialize();
  EXPECT_THROW(one_device().load(std::string_view(bytes).substr(0, bytes.size() / 2)), PjrtError);
}

}  // namespace
}  // namespace tethys::pjrt::conformance
