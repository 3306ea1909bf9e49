// Foreign code that programs call: its handler is registered, its version is in the cache's key, its errors reach the
// reader of the result.
#include <gtest/gtest.h>
#include <xla/ffi/api/ffi.h>

#include <chrono>
#include <thread>

#include "base/temporary_folder.h"
#include "ops/control/redistribute.h"
#include "ops/kernel/kernel.h"
#include "ops/reduce/reduce.h"
#include "pjrt/error.h"
#include "runtime/executor.h"
#include "runtime/testing.h"
#include "runtime/watchdog.h"

namespace tethys {
namespace {

using runtime_testing::client;
using runtime_testing::put;

// A handler that refuses negative numbers and passes others on.
xla::ffi::Error positive(xla::ffi::Buffer<xla::ffi::F64> x, xla::ffi::ResultBuffer<xla::ffi::F64> out) {
  if (x.typed_data()[0] < 0) return xla::ffi::Error(xla::ffi::ErrorCode::kOutOfRange, "a negative number");
  out->typed_data()[0] = x.typed_data()[0];
  return xla::ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER(
    positive_handler, positive,
    xla::ffi::Ffi::Bind().Arg<xla::ffi::Buffer<xla::ffi::F64>>().Ret<xla::ffi::Buffer<xla::ffi::F64>>());

constexpr const char* kTarget = "cross_test_positive";

// Passes x on; its lowering is the handler.
KernelRecord positive_kernel(const char* version) {
  return {
      .name = "positive",
      .infer = [](const OpCall& call) { return call.operands; },
      .reference = [](Graph&, const Attributes&, const std::vector<Value>& operands) { return operands; },
      .factors = [](const OpCall& call) { return elementwise_factors(call.operands[0].dims, 1, Linearity::No); },
      .lowerings = {{.platform = "cpu",
                     .target = kTarget,
                     .handler = reinterpret_cast<void*>(positive_handler),
                     .version = version}},
  };
}
const KernelRecord kPositive = positive_kernel("1");
const Capabilities kWithKernel = {.platform = "cpu", .kernels = {"positive"}};

ExecutorOptions with_handler(const KernelRecord& record = kPositive, const Path& cache = {}) {
  const KernelLowering& lowering = record.lowerings[0];
  return {.cache_folder = cache.string(), .handlers = {{lowering.target, lowering.handler, lowering.version}}};
}

std::vector<Array> call_handler(Executor& executor, double value, const KernelRecord& record = kPositive) {
  Graph graph;
  graph.set_outputs(kernel(record, graph, {}, {graph.input({DType::F64, {1}}, "x")}));
  return executor.call(graph, {put(executor, HostTensor::of<double>({1}, {value}), {})});
}

TEST(ExecutorHandlers, AreCalledAndTheirVersionIsInTheKey) {
  const TemporaryFolder folder;
  for (const auto& [version, compiles] : std::vector<std::pair<const char*, int64_t>>{{"1", 1}, {"1", 0}, {"2", 1}}) {
    const KernelRecord record = positive_kernel(version);
    Executor executor(client(), Mesh(), kWithKernel, with_handler(record, folder.path()));
    EXPECT_EQ(to_host(call_handler(executor, 4, record)[0]).as<double>()[0], 4);
    EXPECT_EQ(executor.counters().compiles, compiles) << version;
  }
}

TEST(ExecutorHandlers, AProgramWithoutItsHandlerIsNotCompiled) {
  Executor executor(client(), Mesh(), kWithKernel);
  try {
    call_handler(executor, 1);
    FAIL() << "no handler was given";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find(kTarget), std::string::npos) << e.what();
  }
}

TEST(ExecutorHandlers, AnotherVersionThanTheProgramCallsIsRefused) {
  const KernelRecord newer = positive_kernel("2");
  Executor executor(client(), Mesh(), kWithKernel, with_handler());
  try {
    call_handler(executor, 1, newer);
    FAIL() << "the handler is of version 1";
  } catch (const InternalError& e) {
    EXPECT_STREQ(e.what(), "a program calls version 2 of 'cross_test_positive', the Executor was given version 1");
  }
}

TEST(ExecutorErrors, ARunThatFailsThrowsWhereItsResultIsRead) {
  Executor executor(client(), Mesh(), kWithKernel, with_handler());
  // A plugin may run a small program inside of the launch; the error then shows at once.
  try {
    to_host(call_handler(executor, -1)[0]);
    FAIL() << "the handler failed";
  } catch (const pjrt::PjrtError& e) {
    EXPECT_NE(e.text().find("a negative number"), std::string::npos) << e.text();
  }
  try {
    executor.wait();
  } catch (const pjrt::PjrtError& e) {
    EXPECT_NE(e.text().find("a negative number"), std::string::npos) << e.text();
  }
  EXPECT_EQ(to_host(call_handler(executor, 4)[0]).as<double>()[0], 4);
}

// A device whose number is above 0 never comes back.
xla::ffi::Error coming_back(xla::ffi::Buffer<xla::ffi::F64> x, xla::ffi::ResultBuffer<xla::ffi::F64> out) {
  while (x.typed_data()[0] > 0) std::this_thread::sleep_for(std::chrono::hours(1));
  out->typed_data()[0] = x.typed_data()[0];
  return xla::ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER(
    coming_back_handler, coming_back,
    xla::ffi::Ffi::Bind().Arg<xla::ffi::Buffer<xla::ffi::F64>>().Ret<xla::ffi::Buffer<xla::ffi::F64>>());

const KernelRecord kComingBack = {
    .name = "coming_back",
    .infer = [](const OpCall& call) { return call.operands; },
    .reference = [](Graph&, const Attributes&, const std::vector<Value>& operands) { return operands; },
    .factors = [](const OpCall& call) { return elementwise_factors(call.operands[0].dims, 1, Linearity::No); },
    .lowerings = {{.platform = "cpu",
                   .target = "cross_test_coming_back",
                   .handler = reinterpret_cast<void*>(coming_back_handler),
                   .version = "1"}},
};

// Sums a number of each of two devices, under a watchdog; ends the process with status 0 if that is done.
[[noreturn]] void sum_over_devices(double first, double second) {
  const Mesh mesh({{"dp_shard", 2}});
  Executor executor(client(), mesh, {.platform = "cpu", .kernels = {"coming_back"}}, with_handler(kComingBack));
  Graph graph;
  const Value x = graph.input({DType::F64, {2}}, "x", Placement{shard(0)});
  graph.set_outputs({redistribute(reduce_sum(kernel(kComingBack, graph, {}, {x})[0], {0}), replicated(mesh))});
  const Program program = make_program(graph, mesh, executor.capabilities(), {});
  const std::shared_ptr<const CompiledProgram> compiled = executor.compile(program);
  std::vector<Array> arguments = {put(executor, HostTensor::of<double>({2}, {first, second}), {shard(0)})};
  Watchdog watchdog(std::chrono::seconds(2), [](const Watchdog::Stuck& stuck) {
    fmt::print(stderr, "{}\n", to_string(stuck));
    ::_exit(4);
  });
  const Watchdog::Step guard = watchdog.step(3, "the sum", program.waits);
  to_host(executor.run(*compiled, std::move(arguments))[0]);
  ::_exit(0);
}

TEST(StuckDeathTest, ACollectiveThatADeviceDoesNotComeToEndsTheProcessAndIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(sum_over_devices(0, 0), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(sum_over_devices(0, 1), testing::ExitedWithCode(4), "step 3 of program the sum .*all_reduce ×1");
}

}  // namespace
}  // namespace tethys
