#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "runtime/array.h"
#include "runtime/testing.h"

namespace tethys {
namespace {

using pjrt::MemoryKind;
using runtime_testing::client;

HostTensor counted(Dims dims) {
  std::vector<float> values(static_cast<size_t>(element_count(dims)));
  std::iota(values.begin(), values.end(), 0.0F);
  return HostTensor::of<float>(std::move(dims), values);
}

std::shared_ptr<const DeviceMesh> on(Mesh mesh) {
  return std::make_shared<const DeviceMesh>(client(), std::move(mesh));
}

TEST(ArrayTransfer, EveryPlacementRoundTrips) {
  const auto devices = on(Mesh({{"dp_replicate", 2}, {"dp_shard", 2}, {"tp", 2}}));
  const HostTensor whole = counted({8, 4});
  for (const Placement& placement : {Placement{replicate(), replicate(), replicate()},
                                     {replicate(), shard(0), shard(1)},
                                     {shard(0), shard(0), shard(0)},
                                     {shard(1), replicate(), shard(0)}}) {
    const Array array = to_device(devices, whole, placement);
    EXPECT_EQ(array.buffers().size(), 8U);
    EXPECT_EQ(to_host(array), whole) << to_string(placement);
  }
}

TEST(ArrayTransfer, EachDeviceHoldsItsShard) {
  const auto devices = on(Mesh({{"dp_shard", 4}}));
  const Array rows = to_device(devices, counted({8, 1}), {shard(0)});
  EXPECT_EQ(read_shard(rows, 3), HostTensor::of<float>({2, 1}, {6, 7}));
  EXPECT_EQ(rows.buffer(3).device(), 3);
}

TEST(ArrayTransfer, ProcessOneOfFourPutsDataOnItsTwoDevicesOnly) {
  const auto devices = on(Mesh({{"dp_shard", 8}}, /*process_index=*/1, /*process_count=*/4));
  const Array array = to_device(devices, counted({16}), {shard(0)});
  ASSERT_EQ(array.buffers().size(), 2U);
  EXPECT_EQ(array.buffers()[0].device(), 2);
  EXPECT_EQ(read_shard(array, 2), HostTensor::of<float>({2}, {4, 5}));
  EXPECT_EQ(read_shard(array, 3), HostTensor::of<float>({2}, {6, 7}));
  EXPECT_EQ(array.bytes(), 16);
  EXPECT_THROW(read_shard(array, 0), InternalError);
  EXPECT_THROW(to_host(array), InternalError);
  // What every process holds whole, each can read.
  const HostTensor scalar = HostTensor::scalar<float>(3);
  EXPECT_EQ(to_host(to_device(devices, scalar, {replicate()})), scalar);
}

TEST(ArrayTransfer, PartsAreAskedForOncePerDistinctShard) {
  const auto devices = on(Mesh({{"dp_replicate", 2}, {"dp_shard", 2}}));
  const HostTensor whole = counted({4});
  std::vector<Dims> asked;
  const Array array = to_device(devices, whole.type(), {replicate(), shard(0)}, [&](const Shard& s) {
    asked.push_back(s.offset);
    return cut(whole, s);
  });
  EXPECT_EQ(asked, (std::vector<Dims>{{0}, {2}}));
  EXPECT_EQ(to_host(array), whole);
  EXPECT_EQ(read_shard(array, 3), HostTensor::of<float>({2}, {2, 3}));
}

TEST(ArrayTransfer, AHostCannotPutSummands) {
  EXPECT_THROW(to_device(on(Mesh({{"tp", 2}})), counted({4}), {partial()}), InternalError);
}

TEST(ArrayLedger, CountsWhatLivesByKindAndSpace) {
  const auto devices = on(Mesh({{"dp_shard", 4}}));
  const Ledger& ledger = devices->ledger();
  {
    Array w = to_device(devices, counted({8, 8}), {shard(0)}, {.kind = ArrayKind::Parameter});
    const Array copy = w;  // the same buffers
    EXPECT_EQ(ledger.live(MemoryKind::Default, ArrayKind::Parameter), 8 * 8 * 4);
    const Array everywhere = to_device(devices, counted({8, 8}), {replicate()});
    EXPECT_EQ(ledger.live(MemoryKind::Default, ArrayKind::Input), 4 * 8 * 8 * 4);
    w.set_kind(ArrayKind::Optimizer);
    EXPECT_EQ(ledger.live(MemoryKind::Default, ArrayKind::Optimizer), 8 * 8 * 4);
    EXPECT_EQ(ledger.live(MemoryKind::Default, ArrayKind::Parameter), 0);
  }
  EXPECT_EQ(ledger.live(MemoryKind::Default), 0);
  EXPECT_EQ(ledger.peak(), 5 * 8 * 8 * 4);
}

TEST(ArrayMemory, AnArrayMayLieInTheHostsMemory) {
  const auto devices = on(Mesh({{"dp_shard", 2}}));
  const HostTensor whole = counted({4, 4});
  const Array parked = to_device(devices, whole, {shard(0)}, {.memory = MemoryKind::PinnedHost});
  EXPECT_EQ(parked.buffers()[0].memory_kind(), "pinned_host");
  EXPECT_EQ(devices->ledger().live(MemoryKind::PinnedHost), 64);
  EXPECT_EQ(devices->ledger().live(MemoryKind::Device), 0);
  EXPECT_EQ(to_host(parked), whole);
}

TEST(DeviceMeshOfAClient, TooFewDevicesNameTheFix) {
  try {
    on(Mesh({{"dp_shard", 16}}));
    FAIL() << "16 devices of 8";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("--device.count 16"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tethys
