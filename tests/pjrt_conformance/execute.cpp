// Running programs: results, donation, what the compiler says of a program, and errors that reach the caller.
#include <fmt/core.h>

#include "conformance.h"
#include "pjrt/live_handles.h"

namespace tethys::pjrt::conformance {
namespace {

using Lists = std::vector<std::vector<Argument>>;

// state + step, with the state's memory taken over by the result.
std::string accumulate_text(int64_t n) {
  const std::string type = fmt::format("tensor<{}xf32>", n);
  return to_text({.inputs = {type, type},
                  .body = fmt::format("%r = \"stablehlo.add\"(%arg0, %arg1) : ({0}, {0}) -> {0}", type),
                  .results = {"%r"},
                  .result_types = {type},
                  .input_attributes = {"tf.aliasing_output = 0 : i32"}});
}

std::string add_text(const std::string& type) {
  return to_text({.inputs = {type, type},
                  .body = fmt::format("%r = \"stablehlo.add\"(%arg0, %arg1) : ({0}, {0}) -> {0}", type),
                  .results = {"%r"},
                  .result_types = {type}});
}

Buffer filled(const Client& client, int64_t n, float value, int64_t device = 0) {
  return Buffer::from_host(client, HostTensor::of<float>({n}, std::vector<float>(static_cast<size_t>(n), value)),
                           device);
}

TEST(Execute, ResultsAreRowMajorWhateverTheProgramDid) {
  const LoadedExecutable transpose = one_device().compile(
      to_text({.inputs = {"tensor<2x3xf32>"},
               .body = "%r = \"stablehlo.transpose\"(%arg0) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> "
                       "tensor<3x2xf32>",
               .results = {"%r"},
               .result_types = {"tensor<3x2xf32>"}}));
  EXPECT_EQ(run(one_device(), transpose, {HostTensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})})[0],
            HostTensor::of<float>({3, 2}, {1, 4, 2, 5, 3, 6}));
}

TEST(Execute, AProgramMayHaveNoArgumentsAndManyResults) {
  const LoadedExecutable program = one_device().compile(
      to_text({.inputs = {},
               .body = "%a = \"stablehlo.constant\"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>\n"
                       "%b = \"stablehlo.iota\"() {iota_dimension = 0 : i64} : () -> tensor<4xui8>",
               .results = {"%a", "%b", "%a"},
               .result_types = {"tensor<i32>", "tensor<4xui8>", "tensor<i32>"}}));
  EXPECT_EQ(program.executable().num_outputs(), 3);
  EXPECT_EQ(program.executable().output_types(),
            (std::vector<TensorType>{{DType::S32, {}}, {DType::U8, {4}}, {DType::S32, {}}}));
  const std::vector<HostTensor> results = run(one_device(), program, {});
  EXPECT_EQ(results[0], HostTensor::scalar(3));
  EXPECT_EQ(results[1], HostTensor::of<uint8_t>({4}, {0, 1, 2, 3}));
  EXPECT_EQ(results[2], HostTensor::scalar(3));
}

TEST(Execute, ResultsOfALaunchAreThereWhenItsEventsAre) {
  const LoadedExecutable add = one_device().compile(add_text("tensor<1000xf32>"));
  const Buffer x = filled(one_device(), 1000, 2);
  Lists arguments(1);
  arguments[0].emplace_back(x);
  arguments[0].emplace_back(x);
  Execution execution = add.launch(arguments);
  ASSERT_EQ(execution.done.size(), 1u);
  await_all(execution.done);
  EXPECT_EQ(execution.results[0][0].to_host().to_doubles(), std::vector<double>(1000, 4.0));
}

TEST(Execute, ADeviceAssignmentChoosesTheDevices) {
  const LoadedExecutable program = eight_devices().compile(
      add_text("tensor<1xf32>"), {.num_replicas = 2, .device_assignment = std::vector<std::vector<int64_t>>{{5, 3}}});
  EXPECT_EQ(program.devices(), (std::vector<int64_t>{5, 3}));
  const HostTensor one = HostTensor::of<float>({1}, {1}), two = HostTensor::of<float>({1}, {2});
  const auto results = run_all(eight_devices(), program, {{one, one}, {two, two}});
  EXPECT_EQ(results[0][0].to_doubles()[0], 2);
  EXPECT_EQ(results[1][0].to_doubles()[0], 4);
}

TEST(Execute, EightReplicasRunApart) {
  const LoadedExecutable add = eight_devices().compile(add_text("tensor<1xf32>"), {.num_replicas = kDevices});
  EXPECT_EQ(add.executable().num_replicas(), kDevices);
  ASSERT_EQ(add.devices().size(), static_cast<size_t>(kDevices));
  std::vector<std::vector<HostTensor>> arguments;
  for (int d = 0; d < kDevices; ++d) {
    arguments.push_back({HostTensor::of<float>({1}, {static_cast<float>(d)}), HostTensor::of<float>({1}, {100})});
  }
  const auto results = run_all(eight_devices(), add, arguments);
  for (size_t d = 0; d < results.size(); ++d) EXPECT_EQ(results[d][0].to_doubles()[0], 100.0 + static_cast<double>(d));
}

TEST(Donation, ADonatedBufferIsConsumedAndItsMemoryReused) {
  const LoadedExecutable step = one_device().compile(accumulate_text(1024));
  const MemoryStats stats = step.executable().memory_stats();
  EXPECT_EQ(stats.arguments, 2 * 4096);
  EXPECT_EQ(stats.outputs, 4096);
  EXPECT_EQ(stats.aliased, 4096);
  EXPECT_EQ(stats.total() - stats.temporaries, 2 * 4096);

  const Buffer one = filled(one_device(), 1024, 1);
  Lists arguments(1);
  arguments[0].emplace_back(Donated(filled(one_device(), 1024, 41)));
  arguments[0].emplace_back(one);
  const auto results = step.execute(arguments);
  EXPECT_TRUE(arguments[0][0].buffer().empty());
  EXPECT_FALSE(one.is_deleted());
  EXPECT_EQ(results[0][0].to_host().to_doubles(), std::vector<double>(1024, 42.0));
}

TEST(Donation, WithoutAliasingTheProgramNeedsItsOwnResult) {
  const MemoryStats stats = one_device().compile(add_text("tensor<1024xf32>")).executable().memory_stats();
  EXPECT_EQ(stats.arguments, 2 * 4096);
  EXPECT_EQ(stats.outputs, 4096);
  EXPECT_EQ(stats.aliased, 0);
}

TEST(Donation, ABorrowedBufferIsNeverWrittenToEvenWhereTheProgramAliasesIt) {
  const LoadedExecutable step = one_device().compile(accumulate_text(1024));
  const Buffer state = filled(one_device(), 1024, 5), one = filled(one_device(), 1024, 1);
  Lists arguments(1);
  arguments[0].emplace_back(state);
  arguments[0].emplace_back(one);
  EXPECT_EQ(step.execute(arguments)[0][0].to_host().to_doubles(), std::vector<double>(1024, 6.0));
  EXPECT_FALSE(state.is_deleted());
  EXPECT_EQ(state.to_host().to_doubles(), std::vector<double>(1024, 5.0));
}

TEST(Donation, ADonatedBufferIsFreedEvenWhenTheProgramHasNoUseForItsMemory) {
  const LoadedExecutable add = one_device().compile(add_text("tensor<8xf32>"));
  const LiveHandles before = live_handles();
  Lists arguments(1);
  arguments[0].emplace_back(Donated(filled(one_device(), 8, 1)));
  arguments[0].emplace_back(Donated(filled(one_device(), 8, 2)));
  const auto results = add.execute(arguments);
  EXPECT_EQ(live_handles().buffers, before.buffers + 1);
  EXPECT_EQ(results[0][0].to_host().to_doubles(), std::vector<double>(8, 3.0));
}

TEST(Donation, AStateGoesThroughManyStepsInOneBuffer) {
  const LoadedExecutable step = one_device().compile(accumulate_text(64));
  const Buffer one = filled(one_device(), 64, 1);
  Buffer state = filled(one_device(), 64, 0);
  const LiveHandles before = live_handles();
  for (int i = 0; i < 100; ++i) {
    Lists arguments(1);
    arguments[0].emplace_back(Donated(std::move(state)));
    arguments[0].emplace_back(one);
    state = std::move(step.launch(arguments).results[0][0]);
  }
  EXPECT_EQ(live_handles().buffers, before.buffers);
  EXPECT_EQ(state.to_host().to_doubles(), std::vector<double>(64, 100.0));
}

TEST(Donation, ARefusedRunLeavesDonatedBuffersWithTheCaller) {
  const LoadedExecutable step = one_device().compile(accumulate_text(16));
  const Buffer wrong = filled(one_device(), 3, 1);
  Lists arguments(1);
  arguments[0].emplace_back(Donated(filled(one_device(), 16, 7)));
  arguments[0].emplace_back(wrong);
  EXPECT_THROW(step.execute(arguments), PjrtError);
  const Buffer back = arguments[0][0].take();
  EXPECT_EQ(back.to_host().to_doubles(), std::vector<double>(16, 7.0));
}

TEST(Errors, ACompilersTextReachesTheCallerWithCodeFunctionAndPlugin) {
  const PjrtError error = error_of([] {
    one_device().compile(to_text({.inputs = {"tensor<2xf32>", "tensor<3xf32>"},
                                  .body = "%r = \"stablehlo.add\"(%arg0, %arg1) : (tensor<2xf32>, tensor<3xf32>) -> "
                                          "tensor<2xf32>",
                                  .results = {"%r"},
                                  .result_types = {"tensor<2xf32>"}}));
  });
  EXPECT_EQ(error.function(), "PJRT_Client_Compile");
  EXPECT_EQ(error.plugin(), plugin()->path());
  EXPECT_NE(error.text().find("stablehlo.add"), std::string::npos) << error.text();
  EXPECT_NE(std::string(error.what()).find(name_of(error.code())), std::string::npos) << error.what();
}

TEST(Errors, AnUnknownCompilerOptionIsNamed) {
  const PjrtError error = error_of([] {
    one_device().compile(add_text("tensor<f32>"), {.env_option_overrides = {{"xla_no_such_flag", true}}});
  });
  EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
  EXPECT_NE(error.text().find("xla_no_such_flag"), std::string::npos) << error.text();
}

TEST(Errors, MorePartitionsThanDevicesAreRefused) {
  const PjrtError error = error_of(
      [] { eight_devices().compile(add_text("tensor<f32>"), {.num_partitions = 64, .use_spmd_partitioning = true}); });
  EXPECT_FALSE(error.text().empty());
}

TEST(Errors, ArgumentsOfTheWrongSizeCountOrDeviceAreRefused) {
  const LoadedExecutable add = eight_devices().compile(add_text("tensor<4xf32>"));
  const Buffer x = filled(eight_devices(), 4, 1), small = filled(eight_devices(), 3, 1);
  const Buffer elsewhere = filled(eight_devices(), 4, 1, 1);
  const auto refused = [&](std::vector<const Buffer*> buffers) {
    Lists arguments(1);
    for (const Buffer* buffer : buffers) arguments[0].emplace_back(*buffer);
    const PjrtError error = error_of([&] { add.execute(arguments); });
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_EQ(error.function(), "PJRT_LoadedExecutable_Execute");
    return error.text();
  };
  EXPECT_NE(refused({&x, &small}).find("incompatible size 12"), std::string::npos);
  EXPECT_NE(refused({&x}).find("expected 2"), std::string::npos);
  EXPECT_NE(refused({&x, &elsewhere}).find("is on device"), std::string::npos);
}

TEST(Errors, NoErrorHandleStaysBehind) {
  error_of([] { one_device().compile("no program"); });
  EXPECT_EQ(live_handles().errors, 0);
}

TEST(Executables, AreAliveAsLongAsTheirHandles) {
  const LiveHandles before = live_handles();
  {
    const LoadedExecutable add = one_device().compile(add_text("tensor<4xf32>"));
    EXPECT_EQ(live_handles().executables, before.executables + 2);  // what runs, and what can be asked
  }
  EXPECT_EQ(live_handles().executables, before.executables);
}

TEST(Executables, EqualProgramsHaveEqualFingerprintsAndOthersDoNot) {
  const auto fingerprint = [](const std::string& text) {
    return one_device().compile(text).executable().fingerprint();
  };
  EXPECT_EQ(fingerprint(add_text("tensor<4xf32>")), fingerprint(add_text("tensor<4xf32>")));
  EXPECT_NE(fingerprint(add_text("tensor<4xf32>")), fingerprint(add_text("tensor<5xf32>")));
}

TEST(Executables, ShowTheOptimizedProgram) {
  const OptimizedProgram program = one_device().compile(add_text("tensor<4xf32>")).executable().optimized_program();
  EXPECT_EQ(program.format, "hlo_with_config");
  EXPECT_NE(program.code.find("conformance"), std::string::npos);  // the module's name, inside the proto
}

TEST(Executables, TemporariesAreWhatThePlanNeedsBetweenTheOps) {
  // Two dots in a row: the first result, 64 x 64 doubles, lives between them.
  const std::string type = "tensor<64x64xf64>";
  const std::string dot =
      "{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : "
      "(tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>\n";
  const LoadedExecutable program =
      one_device().compile(to_text({.inputs = {type},
                                    .body = "%a = \"stablehlo.dot_general\"(%arg0, %arg0) " + dot +
                                            "%b = \"stablehlo.dot_general\"(%a, %arg0) " + dot,
                                    .results = {"%b"},
                                    .result_types = {type}}));
  EXPECT_GE(program.executable().memory_stats().temporaries, 64 * 64 * 8);
}

TEST(Clients, SayWhatTheyAre) {
  Client& client = eight_devices();
  EXPECT_FALSE(client.platform_name().empty());
  EXPECT_EQ(client.process_index(), 0);
  ASSERT_EQ(client.device_count(), kDevices);
  for (int64_t d = 0; d < kDevices; ++d) {
    EXPECT_EQ(client.devices()[static_cast<size_t>(d)].id, d);
    EXPECT_EQ(client.devices()[static_cast<size_t>(d)].process_index, 0);
  }
  EXPECT_TRUE(plugin()->stablehlo_current_version().has_value());
  EXPECT_NE(plugin()->version().find("stablehlo"), std::string::npos);
}

TEST(Clients, TwoAtOnceDoNotMix) {
  const Client other(plugin(), {.device_count = 2});
  EXPECT_EQ(other.device_count(), 2);
  EXPECT_EQ(one_device().device_count(), 1);
  const LoadedExecutable add = other.compile(add_text("tensor<1xf32>"));
  const HostTensor one = HostTensor::of<float>({1}, {1});
  EXPECT_EQ(run(other, add, {one, one})[0].to_doubles()[0], 2);
}

}  // namespace
}  // namespace tethys::pjrt::conformance
