// C++ handlers called from a program.
#include "pjrt/ffi.h"

#include <fmt/core.h>
#include <xla/ffi/api/ffi.h>

#include <atomic>

#include "conformance.h"

namespace tethys::pjrt::conformance {
namespace {

namespace ffi = xla::ffi;

ffi::Error matmul(ffi::Buffer<ffi::F64> a, ffi::Buffer<ffi::F64> b, double scale, ffi::ResultBuffer<ffi::F64> out) {
  const auto n = a.dimensions()[0], k = a.dimensions()[1], m = b.dimensions()[1];
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += a.typed_data()[i * k + l] * b.typed_data()[l * m + j];
      out->typed_data()[i * m + j] = scale * sum;
    }
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER(matmul_handler, matmul,
                       ffi::Ffi::Bind()
                           .Arg<ffi::Buffer<ffi::F64>>()
                           .Arg<ffi::Buffer<ffi::F64>>()
                           .Attr<double>("scale")
                           .Ret<ffi::Buffer<ffi::F64>>());

// Fails where the number is negative.
ffi::Error checked(ffi::Buffer<ffi::F64> x, ffi::ResultBuffer<ffi::F64> out) {
  const double value = x.typed_data()[0];
  if (value < 0) return ffi::Error(ffi::ErrorCode::kOutOfRange, "the handler met a negative number");
  out->typed_data()[0] = value;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER(checked_handler, checked,
                       ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F64>>().Ret<ffi::Buffer<ffi::F64>>());

ffi::Error twice(ffi::Buffer<ffi::F64> x, ffi::ResultBuffer<ffi::F64> out) {
  out->typed_data()[0] = 2 * x.typed_data()[0];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER(twice_handler, twice,
                       ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F64>>().Ret<ffi::Buffer<ffi::F64>>());

// Says that it was built with headers of the far future.
XLA_FFI_Error* future_handler(XLA_FFI_CallFrame* frame) {
  for (auto* e = frame->extension_start; e != nullptr; e = e->next) {
    if (e->type != XLA_FFI_Extension_Metadata) continue;
    XLA_FFI_Metadata* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(e)->metadata;
    metadata->api_version.major_version = 0;
    metadata->api_version.minor_version = 1000;
  }
  return nullptr;
}

std::string call_text(const std::string& name, bool manual = false) {
  return to_text(
      {.inputs = {"tensor<1xf64>"},
       .body = fmt::format("%r = \"stablehlo.custom_call\"(%arg0) {{call_target_name = \"{}\", api_version = 4 "
                           ": i32, backend_config = {{}}}} : (tensor<1xf64>) -> tensor<1xf64>",
                           name),
       .results = {"%r"},
       .result_types = {"tensor<1xf64>"},
       .manual = manual});
}

class Ffi : public testing::Test {
 protected:
  void SetUp() override {
    if (one_device().platform_name() != "cpu") GTEST_SKIP() << "handlers of the host";
    ASSERT_TRUE(has_ffi(*plugin()));
    register_ffi_handler(plugin(), "conformance_matmul", matmul_handler);
    register_ffi_handler(plugin(), "conformance_checked", checked_handler);
  }
};

TEST_F(Ffi, AHandlerGetsItsArgumentsAndAttributes) {
  const std::string body =
      "%r = \"stablehlo.custom_call\"(%arg0, %arg1) {call_target_name = \"conformance_matmul\", api_version = 4 : i32, "
      "backend_config = {scale = 10.0 : f64}} : (tensor<2x3xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>";
  const LoadedExecutable program = one_device().compile(to_text({.inputs = {"tensor<2x3xf64>", "tensor<3x2xf64>"},
                                                                 .body = body,
                                                                 .results = {"%r"},
                                                                 .result_types = {"tensor<2x2xf64>"}}));
  const HostTensor a = HostTensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  const HostTensor b = HostTensor::of<double>({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(run(one_device(), program, {a, b})[0], HostTensor::of<double>({2, 2}, {40, 50, 100, 110}));
}

TEST_F(Ffi, AHandlerRunsInALoopOnEightDevices) {
  const std::string type = "tensor<2x2xf64>";
  const std::string body =
      "%w = \"stablehlo.custom_call\"(%v, %v) {call_target_name = \"conformance_matmul\", api_version = 4 : i32, "
      "backend_config = {scale = 1.0 : f64}} : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>";
  const LoadedExecutable program = eight_devices().compile(to_text({.inputs = {type},
                                                                    .body = loop("%arg0", type, 3, body),
                                                                    .results = {"%loop#1"},
                                                                    .result_types = {type},
                                                                    .manual = true}),
                                                           {.num_partitions = kDevices, .use_spmd_partitioning = true});
  std::vector<std::vector<HostTensor>> arguments;
  for (int d = 0; d < kDevices; ++d) {
    arguments.push_back({HostTensor::of<double>({2, 2}, {1, static_cast<double>(d), 0, 1})});
  }
  // Squaring a shear three times multiplies its slope by 2^3.
  const auto results = run_all(eight_devices(), program, arguments);
  for (int d = 0; d < kDevices; ++d) {
    EXPECT_EQ(results[static_cast<size_t>(d)][0], HostTensor::of<double>({2, 2}, {1, 8.0 * d, 0, 1}));
  }
}

TEST_F(Ffi, AHandlersErrorReachesTheCallerWithItsCodeAndText) {
  const LoadedExecutable program = one_device().compile(call_text("conformance_checked"));
  EXPECT_EQ(run(one_device(), program, {HostTensor::of<double>({1}, {4})})[0].to_doubles()[0], 4);
  const PjrtError error = error_of([&] { run(one_device(), program, {HostTensor::of<double>({1}, {-1})}); });
  EXPECT_EQ(error.code(), ErrorCode::OutOfRange);
  EXPECT_NE(error.text().find("the handler met a negative number"), std::string::npos) << error.text();
}

TEST_F(Ffi, OneFailingDeviceOfEightFailsTheRunAndAllAreWaitedFor) {
  const LoadedExecutable program = eight_devices().compile(call_text("conformance_checked", true),
                                                           {.num_partitions = kDevices, .use_spmd_partitioning = true});
  std::vector<std::vector<HostTensor>> arguments;
  for (int d = 0; d < kDevices; ++d) arguments.push_back({HostTensor::of<double>({1}, {d == 5 ? -1.0 : 1.0})});
  const PjrtError error = error_of([&] { run_all(eight_devices(), program, arguments); });
  EXPECT_NE(error.text().find("the handler met a negative number"), std::string::npos) << error.text();
  arguments[5] = {HostTensor::of<double>({1}, {5})};
  EXPECT_EQ(run_all(eight_devices(), program, arguments)[5][0].to_doubles()[0], 5);
}

TEST_F(Ffi, TheResultOfAFailedLaunchFailsWhenItIsRead) {
  const LoadedExecutable program = one_device().compile(call_text("conformance_checked"));
  const Buffer x = Buffer::from_host(one_device(), HostTensor::of<double>({1}, {-1}));
  std::vector<std::vector<Argument>> arguments(1);
  arguments[0].emplace_back(x);
  const PjrtError error = error_of([&] {
    Execution execution = program.launch(arguments);
    execution.results[0][0].to_host();
  });
  EXPECT_NE(error.text().find("the handler met a negative number"), std::string::npos) << error.text();
}

TEST_F(Ffi, ANameThatNobodyRegisteredFailsToCompile) {
  const PjrtError error = error_of([] { one_device().compile(call_text("conformance_nobody")); });
  EXPECT_EQ(error.code(), ErrorCode::NotFound);
  EXPECT_NE(error.text().find("conformance_nobody"), std::string::npos) << error.text();
  EXPECT_FALSE(has_ffi_handler(one_device(), "conformance_nobody"));
  EXPECT_TRUE(has_ffi_handler(one_device(), "conformance_matmul"));
}

TEST_F(Ffi, AHandlerBuiltWithNewerHeadersIsNotTaken) {
  register_ffi_handler(plugin(), "conformance_future", future_handler);  // refused without a word
  EXPECT_FALSE(has_ffi_handler(one_device(), "conformance_future"));
}

TEST_F(Ffi, TheFirstHandlerOfANameKeepsIt) {
  register_ffi_handler(plugin(), "conformance_checked", checked_handler);
  register_ffi_handler(plugin(), "conformance_checked", twice_handler);
  const LoadedExecutable program = one_device().compile(call_text("conformance_checked"));
  EXPECT_EQ(run(one_device(), program, {HostTensor::of<double>({1}, {4})})[0].to_doubles()[0], 4);
}

}  // namespace
}  // namespace tethys::pjrt::conformance
