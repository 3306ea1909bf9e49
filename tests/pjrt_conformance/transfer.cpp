// Arrays to the device and back: every dtype, rank and memory, bit for bit.
#include <fmt/core.h>

#include <cstring>

#include "conformance.h"
#include "pjrt/live_handles.h"

namespace tethys::pjrt::conformance {
namespace {

// Every byte pattern that the dtype allows turns up, infinities, NaNs and subnormals included.
HostTensor patterned(const TensorType& type) {
  HostTensor out(type);
  uint32_t state = 0x9e3779b9u;
  for (std::byte& b : out.bytes()) {
    state = state * 1664525u + 1013904223u;
    b = static_cast<std::byte>(type.dtype == DType::Bool ? (state >> 31) : (state >> 24));
  }
  return out;
}

class EveryDType : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Transfer, EveryDType, testing::ValuesIn(kAllDTypes),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(EveryDType, RoundTripsBitForBitInEveryRankAndWhenEmpty) {
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{7}, Dims{2, 3, 5}, Dims{0}, Dims{3, 0, 2}, Dims{129, 257}}) {
    const HostTensor sent = patterned({GetParam(), dims});
    const Buffer buffer = Buffer::from_host(one_device(), sent);
    EXPECT_EQ(buffer.type(), sent.type());
    EXPECT_EQ(buffer.to_host(), sent) << to_string(sent.type());
  }
}

TEST_P(EveryDType, MeansTheSameToAProgram) {
  const std::string type = fmt::format("tensor<5x{}>", mlir_name_of(GetParam()));
  const LoadedExecutable reverse = one_device().compile(to_text(
      {.inputs = {type},
       .body = fmt::format("%r = \"stablehlo.reverse\"(%arg0) {{dimensions = array<i64: 0>}} : ({0}) -> {0}", type),
       .results = {"%r"},
       .result_types = {type}}));
  const HostTensor sent = HostTensor::from_doubles({GetParam(), {5}}, std::vector<double>{0, 1, 0, 1, 1});
  const HostTensor expected = HostTensor::from_doubles({GetParam(), {5}}, std::vector<double>{1, 1, 0, 1, 0});
  EXPECT_EQ(reverse.executable().output_types(), std::vector<TensorType>{expected.type()});
  EXPECT_EQ(run(one_device(), reverse, {sent})[0], expected);
}

TEST_P(EveryDType, PassesThroughAProgramAtRankZeroAndEmpty) {
  const std::string scalar = fmt::format("tensor<{}>", mlir_name_of(GetParam()));
  const std::string none = fmt::format("tensor<0x{}>", mlir_name_of(GetParam()));
  const LoadedExecutable program =
      one_device().compile(to_text({.inputs = {scalar, none},
                                    .body = fmt::format("%s = \"stablehlo.maximum\"(%arg0, %arg0) : ({0}, {0}) -> {0}\n"
                                                        "%n = \"stablehlo.maximum\"(%arg1, %arg1) : ({1}, {1}) -> {1}",
                                                        scalar, none),
                                    .results = {"%s", "%n"},
                                    .result_types = {scalar, none}}));
  const HostTensor one = HostTensor::from_doubles({GetParam(), {}}, std::vector<double>{1});
  const HostTensor nothing(TensorType{GetParam(), {0}});
  EXPECT_EQ(run(one_device(), program, {one, nothing}), (std::vector<HostTensor>{one, nothing}));
}

TEST(Transfer, HostDataMayChangeOnceFromHostReturns) {
  HostTensor data = HostTensor::of<float>({3}, {1, 2, 3});
  const Buffer buffer = Buffer::from_host(one_device(), data);
  data.as<float>()[1] = 99;
  EXPECT_EQ(buffer.to_host(), HostTensor::of<float>({3}, {1, 2, 3}));
}

TEST(Transfer, ReadsCanOverlapAndAreDoneWhenTheirEventsAre) {
  const HostTensor sent = patterned({DType::F32, {256, 1024}});
  const Buffer buffer = Buffer::from_host(one_device(), sent);
  HostTensor a(sent.type()), b(sent.type());
  std::vector<Event> events;
  events.push_back(buffer.copy_to_host(a.bytes()));
  events.push_back(buffer.copy_to_host(b.bytes()));
  await_all(events);
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(a, sent);
  EXPECT_EQ(b, sent);
}

TEST(Transfer, TheReadyEventTurnsReady) {
  const Buffer buffer = Buffer::from_host(one_device(), HostTensor::scalar(1.0f));
  Event ready = buffer.ready();
  ready.await();
  EXPECT_TRUE(ready.ready());
  int called = 0;
  buffer.ready().on_ready([&] { ++called; });
  EXPECT_EQ(called, 1);
}

TEST(Transfer, OnDeviceBytesCoverTheData) {
  const Buffer buffer = Buffer::from_host(one_device(), HostTensor(TensorType{DType::F64, {3, 5}}));
  EXPECT_GE(buffer.on_device_bytes(), 3 * 5 * 8);
}

TEST(Transfer, EveryDeviceHoldsItsOwnBuffer) {
  Client& client = eight_devices();
  std::vector<Buffer> buffers;
  for (int64_t d = 0; d < client.device_count(); ++d) {
    buffers.push_back(Buffer::from_host(client, HostTensor::scalar(static_cast<int32_t>(d)), d));
  }
  for (int64_t d = 0; d < client.device_count(); ++d) {
    const Buffer& buffer = buffers[static_cast<size_t>(d)];
    EXPECT_EQ(buffer.device(), d);
    EXPECT_EQ(buffer.to_host(), HostTensor::scalar(static_cast<int32_t>(d)));
  }
}

TEST(Transfer, BuffersCopyBetweenDevices) {
  const HostTensor sent = patterned({DType::BF16, {4, 9}});
  const Buffer first = Buffer::from_host(eight_devices(), sent, 0);
  const Buffer second = first.copy_to(5);
  EXPECT_EQ(second.device(), 5);
  EXPECT_EQ(second.to_host(), sent);
  EXPECT_EQ(first.to_host(), sent);
}

class EveryMemory : public testing::TestWithParam<MemoryKind> {};
INSTANTIATE_TEST_SUITE_P(Transfer, EveryMemory,
                         testing::Values(MemoryKind::Device, MemoryKind::PinnedHost, MemoryKind::UnpinnedHost),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(EveryMemory, TakesBuffersFromTheHostAndFromTheDevice) {
  Client& client = one_device();
  ASSERT_TRUE(client.has_memory(0, GetParam()));
  const HostTensor sent = patterned({DType::S16, {3, 4}});
  const Buffer direct = Buffer::from_host(client, sent, 0, GetParam());
  EXPECT_EQ(direct.memory_kind(), name_of(GetParam()));
  EXPECT_EQ(direct.to_host(), sent);
  const Buffer copied = Buffer::from_host(client, sent).copy_to(0, GetParam());
  EXPECT_EQ(copied.memory_kind(), name_of(GetParam()));
  EXPECT_EQ(copied.to_host(), sent);
  const Buffer back = direct.copy_to(0, MemoryKind::Device);
  EXPECT_EQ(back.memory_kind(), "device");
  EXPECT_EQ(back.to_host(), sent);
}

TEST(Transfer, ADeletedBufferIsGoneAndSaysSo) {
  Buffer buffer = Buffer::from_host(one_device(), HostTensor::scalar(1.0f));
  EXPECT_FALSE(buffer.is_deleted());
  buffer.delete_data();
  EXPECT_TRUE(buffer.is_deleted());
  const PjrtError error = error_of([&] { buffer.to_host(); });
  EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
  EXPECT_NE(error.text().find("deleted"), std::string::npos) << error.text();
}

TEST(Transfer, ADeviceThatIsNotThereIsTheCallersMistake) {
  EXPECT_THROW(Buffer::from_host(one_device(), HostTensor::scalar(1.0f), 9), UserError);
  EXPECT_THROW(Buffer::from_host(one_device(), HostTensor::scalar(1.0f), -1), UserError);
}

TEST(Transfer, BuffersKeepTheirClientAlive) {
  Buffer buffer;
  {
    const Client client(plugin());
    buffer = Buffer::from_host(client, HostTensor::scalar(42.0));
  }
  EXPECT_EQ(buffer.to_host(), HostTensor::scalar(42.0));
}

TEST(Transfer, EachKindOfHandleIsCounted) {
  const LiveHandles before = live_handles();
  {
    const Buffer buffer = Buffer::from_host(one_device(), HostTensor::scalar(1.0f));
    const Event event = buffer.ready();
    const LiveHandles during = live_handles();
    EXPECT_EQ(during.buffers, before.buffers + 1);
    EXPECT_EQ(during.events, before.events + 1);
  }
  EXPECT_EQ(live_handles().buffers, before.buffers);
  EXPECT_EQ(live_handles().events, before.events);
}

}  // namespace
}  // namespace tethys::pjrt::conformance
