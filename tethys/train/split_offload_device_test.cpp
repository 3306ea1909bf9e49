// What split_offload leaves on the device: by the ledger, and by the memory that the process has.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "config/config.h"
#include "config/flags.h"
#include "runtime/host_memory.h"
#include "runtime/testing.h"
#include "train/setup.h"
#include "train/step_parts.h"

namespace tethys {
namespace {

using pjrt::MemoryKind;

constexpr int64_t kLayers = 6, kRows = 4, kLength = 512, kDim = 128, kHeads = 4;
constexpr int64_t kLayerInput = kRows * kLength * kDim * 4;

Batch made_up_batch() {
  Batch batch;
  const TensorType type{DType::S32, {1, kRows, kLength}};
  std::vector<int32_t> tokens(static_cast<size_t>(type.elements())), positions(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<int32_t>(i * 7919 % 61);
    positions[i] = static_cast<int32_t>(i % kLength);
  }
  batch.tokens = batch.labels = HostTensor::of<int32_t>(type.dims, tokens);
  batch.positions = HostTensor::of<int32_t>(type.dims, positions);
  batch.segment_ids = HostTensor::of<int32_t>(type.dims, std::vector<int32_t>(tokens.size()));
  return batch;
}

// The process's memory once it no longer falls: a program's outputs are ready before its thread has given up its
// temporaries, here some 55 MB.
int64_t settled_resident_memory() {
  int64_t least = resident_memory();
  for (int unchanged = 0; unchanged < 10;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    trim_freed_memory(0, 0);
    const int64_t now = resident_memory();
    unchanged = now < least ? 0 : unchanged + 1;
    least = std::min(least, now);
  }
  return least;
}

// A forward and a backward of a small model, with what there was between.
struct Halves {
  int64_t device = 0, host = 0;      // bytes of residuals between the two
  int64_t most = 0;                  // of residuals on the device in the backward
  int64_t ledger = 0, resident = 0;  // by how much the forward has moved all arrays, and the process
};

Halves run(const std::vector<std::string>& flags) {
  Config config;
  apply_flags(config, {"--model.dim", "128", "--model.n_layers", "6", "--model.n_heads", "4", "--model.n_kv_heads", "4",
                       "--model.ffn_dim", "256", "--model.vocab_size", "61", "--training.seq_len", "512",
                       "--training.local_batch_size", "4", "--graph.scan_layers"});
  apply_flags(config, flags);
  const TrainingSetup setup = set_up(config, std::nullopt);
  Executor executor(runtime_testing::client(), setup.mesh, Capabilities{});
  TrainingState state = initial_state(executor, setup, 3);
  StepParts parts(executor, setup);
  parts.compile();
  const Ledger& ledger = executor.ledger();
  const auto total = [&] { return ledger.live(MemoryKind::Default) + ledger.live(MemoryKind::PinnedHost); };
  const auto settled = [&] {
    executor.wait();
    return settled_resident_memory();
  };
  const Batch rows = made_up_batch();
  const StepFeed step{0, 0.01, rows};
  TrainingState scratch = initial_state(executor, setup, 3);
  parts.run(scratch, step);  // what the process takes once and for all
  const StepParts::DeviceBatch batch = parts.place(step);
  Halves halves;
  const int64_t before = settled(), arrays = total();
  StepParts::Forward forward = parts.forward(state.parameters, batch, 0);
  halves.resident = settled() - before;
  halves.ledger = total() - arrays;
  halves.device = ledger.live(MemoryKind::Default, ArrayKind::Residual);
  halves.host = ledger.live(MemoryKind::PinnedHost, ArrayKind::Residual);
  parts.backward(state.parameters, batch, 0, std::move(forward));
  executor.wait();
  EXPECT_EQ(ledger.live(MemoryKind::PinnedHost, ArrayKind::Residual), 0);
  halves.most = ledger.peak(MemoryKind::Default, ArrayKind::Residual);
  return halves;
}

TEST(SplitOffload, TheDeviceHoldsNoMoreThanTheLayersInputsBetweenTheHalvesAndTwoLayersInTheBackward) {
  const Halves halves = run({"--graph.split_offload"});
  const int64_t layer = halves.host / kLayers;
  EXPECT_GT(layer, kRows * kHeads * kLength * kLength * 4);  // attention's scores alone are more
  EXPECT_LE(halves.device, kLayers * kLayerInput);
  EXPECT_GE(halves.most, 2 * layer);
  EXPECT_LE(halves.most, halves.device + 2 * layer);
  EXPECT_NEAR(static_cast<double>(halves.resident), static_cast<double>(halves.ledger),
              0.1 * static_cast<double>(halves.ledger));
}

TEST(SplitOffload, WhatIsNamedGoesAndTheRestStays) {
  const Halves halves = run({"--graph.split_offload", "--graph.remat", "selective", "--graph.remat_save", "mlp_in",
                             "--graph.remat_offload", "q,k,layer_input"});
  EXPECT_EQ(halves.host, 3 * kLayers * kLayerInput);  // heads × size = width, and as many of keys
  EXPECT_GE(halves.device, kLayers * kLayerInput);
}

TEST(SplitOffload, NothingGoesWithoutIt) {
  const Halves halves = run({});
  EXPECT_EQ(halves.host, 0);
  EXPECT_GT(halves.device, kLayers * kRows * kHeads * kLength * kLength * 4);
}

}  // namespace
}  // namespace tethys
