#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "ops/dot/dot.h"
#include "ops/registry.h"
#include "ops/shape/splat.h"
#include "pjrt/error.h"
#include "runtime/executor.h"
#include "runtime/testing.h"

namespace tethys {
namespace {

using pjrt::MemoryKind;
using runtime_testing::client;
using runtime_testing::mesh_of;
using runtime_testing::put;

// x[4,3] · w[3,2]
const HostTensor kX = HostTensor::of<float>({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
const HostTensor kW = HostTensor::of<float>({3, 2}, {1, 0, 0, 1, 1, 1});
const HostTensor kProduct = HostTensor::of<float>({4, 2}, {4, 5, 10, 11, 16, 17, 22, 23});

Value matmul(Value x, Value w) { return dot(x, w, {{}, {}, {1}, {0}}, x.dtype()); }

std::vector<Array> product(Executor& executor, const Placement& x_placement, const Placement& w_placement) {
  Graph graph;
  const Value x = graph.input(kX.type(), "x");
  const Value w = graph.input(kW.type(), "w");
  graph.set_outputs({matmul(x, w)});
  return executor.call(graph, {put(executor, kX, x_placement), put(executor, kW, w_placement)});
}

TEST(ExecutorRun, MultipliesMatricesOnOneDeviceAndShardedOverFour) {
  Executor one(client(), Mesh(), {});
  EXPECT_EQ(to_host(product(one, {}, {})[0]), kProduct);
  Executor four(client(), mesh_of(4), {});
  const Array y = product(four, {shard(0)}, {replicate()})[0];
  EXPECT_EQ(y.placement(), Placement{shard(0)});
  EXPECT_EQ(to_host(y), kProduct);
}

TEST(ExecutorRun, AContractionOfShardedSizesIsPartialAndReadsAsItsSum) {
  Executor executor(client(), mesh_of(3), {});
  const Array y = product(executor, {shard(1)}, {shard(0)})[0];
  EXPECT_EQ(y.placement(), Placement{partial()});
  EXPECT_EQ(read_shard(y, 0), HostTensor::of<float>({4, 2}, {1, 0, 4, 0, 7, 0, 10, 0}));  // x[:,0] · w[0,:]
  EXPECT_EQ(to_host(y), kProduct);
}

// state ← state + x
Program accumulate(const Executor& executor, const TensorType& type, const Placement& placement) {
  Graph graph;
  const Value state = graph.input(type, "state", placement);
  const Value x = graph.input(type, "x", placement);
  graph.set_outputs({add(state, x)});
  return make_program(graph, executor.mesh(), executor.capabilities(), {0, -1});
}

TEST(ExecutorDonation, StateIsConsumedAndItsMemoryReused) {
  for (int64_t devices : {1, 4}) {
    Executor executor(client(), mesh_of(devices), {});
    const Placement placement = devices == 1 ? Placement{} : Placement{shard(0)};
    const HostTensor ones = HostTensor::from_doubles({DType::F32, {64, 16}}, std::vector<double>(1024, 1));
    const auto program = executor.compile(accumulate(executor, ones.type(), placement));
    EXPECT_EQ(program->memory().aliased, ones.type().bytes() / devices);
    const Array x = put(executor, ones, placement);
    Array state = put(executor, ones, placement, ArrayKind::Parameter);
    const Array old = state;
    for (int i = 0; i < 5; ++i) state = executor.run(*program, {state, x})[0];
    EXPECT_EQ(to_host(state).as<float>()[1023], 6);
    EXPECT_EQ(state.kind(), ArrayKind::Parameter);
    EXPECT_TRUE(old.consumed());
    EXPECT_FALSE(x.consumed());
    EXPECT_THROW(to_host(old), InternalError);
    EXPECT_THROW(executor.run(*program, {old, x}), InternalError);
    EXPECT_EQ(executor.ledger().live(MemoryKind::Default), 2 * ones.type().bytes());
    EXPECT_EQ(executor.ledger().live(MemoryKind::Default, ArrayKind::Parameter), ones.type().bytes());
    EXPECT_LT(executor.ledger().peak(), 3 * ones.type().bytes());
  }
}

TEST(ExecutorDonation, AnArrayIsNotDonatedAndReadByTheSameRun) {
  Executor executor(client(), Mesh(), {});
  const auto program = executor.compile(accumulate(executor, kX.type(), {}));
  const Array x = put(executor, kX, {});
  EXPECT_THROW(executor.run(*program, {x, x}), InternalError);
  EXPECT_FALSE(x.consumed());
}

TEST(ExecutorRun, WrongArgumentsAreNamed) {
  Executor executor(client(), mesh_of(4), {});
  const auto program = executor.compile(accumulate(executor, kX.type(), {shard(0)}));
  const Array x = put(executor, kX, {shard(0)});
  try {
    executor.run(*program, {put(executor, kX, {replicate()}), x});
    FAIL() << "a replicated argument for a sharded input";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("argument 0 'state' is f32[4,3](R), the program takes f32[4,3](S(0))"),
              std::string::npos)
        << e.what();
  }
  EXPECT_THROW(executor.run(*program, {x}), InternalError);
}

TEST(ExecutorRun, ResultsArePromises) {
  Executor executor(client(), Mesh(), {}, {.runs_in_flight = 8});
  const auto program = executor.compile(accumulate(executor, kX.type(), {}));
  const Array x = put(executor, kX, {});
  std::vector<Array> metrics;
  Array state = put(executor, kX, {});
  Graph copy;
  copy.set_outputs({negate(copy.input(kX.type(), "x"))});
  for (int i = 0; i < 4; ++i) {
    state = executor.run(*program, {state, x})[0];
    metrics.push_back(executor.call(copy, {state})[0]);
  }
  executor.wait();
  for (int i = 0; i < 4; ++i) {
    bool ready = false;
    metrics[i].on_ready([&] { ready = true; });
    EXPECT_TRUE(ready);
    EXPECT_EQ(to_host(metrics[i]).as<float>()[0], -static_cast<float>(i + 2));
  }
}

TEST(ExecutorCall, TheSameGraphCompilesOnce) {
  Executor executor(client(), mesh_of(4), {});
  product(executor, {shard(0)}, {replicate()});
  product(executor, {shard(0)}, {replicate()});
  EXPECT_EQ(executor.counters().compiles, 1);
  product(executor, {replicate()}, {replicate()});
  EXPECT_EQ(executor.counters().compiles, 2);
  EXPECT_GT(executor.time().compile, 0);
  EXPECT_GT(executor.counters().compile_seconds, 0);
}

TEST(ExecutorCache, ASecondExecutorLoadsFromDisk) {
  const TemporaryFolder folder;
  for (int64_t devices : {1, 4}) {
    const ExecutorOptions options{.cache_folder = (folder / "cache").string()};
    const Placement placement = devices == 1 ? Placement{} : Placement{replicate()};
    pjrt::MemoryStats stats;
    {
      Executor cold(client(), mesh_of(devices), {}, options);
      const auto program = cold.compile(accumulate(cold, kX.type(), placement));
      EXPECT_EQ(cold.counters().compiles, 1);
      EXPECT_EQ(cold.counters().failed_stores, 0);
      stats = program->memory();
    }
    Executor warm(client(), mesh_of(devices), {}, options);
    const auto program = warm.compile(accumulate(warm, kX.type(), placement));
    EXPECT_EQ(warm.counters().compiles, 0);
    EXPECT_EQ(warm.counters().disk_hits, 1);
    EXPECT_EQ(program->memory().aliased, stats.aliased);
    const Array state = put(warm, kX, placement);
    EXPECT_EQ(to_host(warm.run(*program, {state, put(warm, kX, placement)})[0]).as<float>()[11], 24);
    EXPECT_TRUE(state.consumed());
  }
}

std::vector<Path> files_of(const Path& folder) {
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

TEST(ExecutorCache, ADamagedFileIsAMiss) {
  const std::string whole = [] {
    const TemporaryFolder folder;
    Executor executor(client(), Mesh(), {}, {.cache_folder = folder.path().string()});
    product(executor, {}, {});
    return read_file(files_of(folder.path()).at(0));
  }();
  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string& content : {std::string(), whole.substr(0, 30), whole.substr(0, whole.size() - 1), flipped}) {
    const TemporaryFolder folder;
    const ExecutorOptions options{.cache_folder = folder.path().string()};
    {
      Executor cold(client(), Mesh(), {}, options);
      product(cold, {}, {});
    }
    write_file(files_of(folder.path()).at(0), content);
    Executor executor(client(), Mesh(), {}, options);
    EXPECT_EQ(to_host(product(executor, {}, {})[0]), kProduct);
    EXPECT_EQ(executor.counters().compiles, 1);
    EXPECT_EQ(executor.counters().refused_files, 1);
    EXPECT_EQ(read_file(files_of(folder.path()).at(0)).size(), whole.size());  // mended
  }
}

TEST(ExecutorCache, AFolderThatCannotBeWrittenCostsNothingElse) {
  const TemporaryFolder folder;
  write_file(folder / "file", "not a folder");
  Executor executor(client(), Mesh(), {}, {.cache_folder = (folder / "file").string()});
  EXPECT_EQ(to_host(product(executor, {}, {})[0]), kProduct);
  EXPECT_EQ(executor.counters().failed_stores, 1);
}

TEST(ExecutorErrors, ACompilersRefusalReachesTheCaller) {
  Executor executor(client(), Mesh(), {});
  Program program = accumulate(executor, kX.type(), {});
  program.text = "module {";
  EXPECT_THROW(executor.compile(program), pjrt::PjrtError);
}

TEST(ExecutorTime, TransferAndWaitingAreCounted) {
  Executor executor(client(), Mesh(), {});
  const TimeAccounts before = executor.time();
  to_host(product(executor, {}, {})[0]);
  const TimeAccounts spent = executor.time() - before;
  EXPECT_GT(spent.compile, 0);
  EXPECT_GT(spent.launch, 0);
  EXPECT_GT(spent.transfer, 0);
  EXPECT_GT(spent.device(), 0);
}

}  // namespace
}  // namespace tethys
