// The ways of making a step parallel that give the numbers of one device: what `make parity` runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/routed_experts/routed_experts.h"
#include "train/degrees.h"
#include "transforms/lower.h"

namespace tethys::parity {

struct Combination {
  std::string name;
  int64_t replicate = 1, shard = 1, context = 1, tensor = 1, expert = 1;
  bool sequence_parallel = false;
  bool head_tail = true;  // of context parallelism
  bool reshard = true;    // gathered weights are gathered again in the backward
  bool scan = false;
  bool full_remat = false;
  GatherOptions gathers = {};
  bool reduces_once = false;  // over all microbatches
  Dispatcher dispatcher = Dispatcher::AllToAll;

  Mesh mesh() const { return mesh_of({replicate, shard, context, tensor, expert}); }
};

inline const std::vector<Combination> kCombinations = {
    {.name = "DDP 2", .replicate = 2},
    {.name = "DDP 4, scan", .replicate = 4, .scan = true},
    {.name = "FSDP 2", .shard = 2},
    {.name = "FSDP 4, scan, full remat", .shard = 4, .scan = true, .full_remat = true},
    {.name = "FSDP 2, weights kept", .shard = 2, .reshard = false},
    {.name = "FSDP 4, weights kept, scan", .shard = 4, .reshard = false, .scan = true},
    {.name = "FSDP 8", .shard = 8},
    {.name = "HSDP 2×2", .replicate = 2, .shard = 2},
    {.name = "TP 2", .tensor = 2},
    {.name = "TP 4, scan", .tensor = 4, .scan = true},
    {.name = "TP 8, key heads on several ranks", .tensor = 8},
    {.name = "TP 2, SP", .tensor = 2, .sequence_parallel = true},
    {.name = "TP 4, SP, scan, full remat", .tensor = 4, .sequence_parallel = true, .scan = true, .full_remat = true},
    {.name = "TP 8, SP, key heads on several ranks", .tensor = 8, .sequence_parallel = true},
    {.name = "FSDP 2 × TP 2", .shard = 2, .tensor = 2},
    {.name = "FSDP 2 × TP 2, SP, scan", .shard = 2, .tensor = 2, .sequence_parallel = true, .scan = true},
    {.name = "HSDP 2×2 × TP 2, SP", .replicate = 2, .shard = 2, .tensor = 2, .sequence_parallel = true},
    {.name = "CP 2", .context = 2},
    {.name = "CP 4, scan, full remat", .context = 4, .scan = true, .full_remat = true},
    {.name = "CP 4, tokens in order", .context = 4, .head_tail = false},
    {.name = "FSDP 2 × CP 2", .shard = 2, .context = 2},
    {.name = "FSDP 2 × CP 4, scan", .shard = 2, .context = 4, .scan = true},
    {.name = "HSDP 2×2 × CP 2", .replicate = 2, .shard = 2, .context = 2},
    {.name = "TP 2 × CP 2, SP", .context = 2, .tensor = 2, .sequence_parallel = true},
    {.name = "FSDP 2 × TP 2 × CP 2", .shard = 2, .context = 2, .tensor = 2},
    {.name = "FSDP 2 × TP 2 × CP 2, SP, scan, full remat",
     .shard = 2,
     .context = 2,
     .tensor = 2,
     .sequence_parallel = true,
     .scan = true,
     .full_remat = true},
    {.name = "FSDP 2 × EP 2", .shard = 2, .expert = 2},
    {.name = "FSDP 4 × EP 2, scan, full remat", .shard = 4, .expert = 2, .scan = true, .full_remat = true},
    {.name = "FSDP 4 × EP 4", .shard = 4, .expert = 4},
    {.name = "FSDP 4 × EP 4, local", .shard = 4, .expert = 4, .dispatcher = Dispatcher::Local},
    {.name = "TP 2 × EP 2", .tensor = 2, .expert = 2},
    {.name = "FSDP 2 × TP 2 × EP 2", .shard = 2, .tensor = 2, .expert = 2},
    {.name = "FSDP 2 × TP 2 × EP 4", .shard = 2, .tensor = 2, .expert = 4},
    {.name = "FSDP 2 × TP 2 × EP 4, SP, scan",
     .shard = 2,
     .tensor = 2,
     .expert = 4,
     .sequence_parallel = true,
     .scan = true},
    {.name = "HSDP 2×2 × EP 2", .replicate = 2, .shard = 2, .expert = 2},
    {.name = "FSDP 2 × CP 2 × EP 4, local, scan",
     .shard = 2,
     .context = 2,
     .expert = 4,
     .scan = true,
     .dispatcher = Dispatcher::Local},
    {.name = "CP 2 × TP 4 × EP 4, SP", .context = 2, .tensor = 4, .expert = 4, .sequence_parallel = true},
    {.name = "FSDP 2 × TP 2 × EP 4, SP, scan, gathers by block and ahead, reduced once",
     .shard = 2,
     .tensor = 2,
     .expert = 4,
     .sequence_parallel = true,
     .scan = true,
     .gathers = {.by_block = true, .ahead = true},
     .reduces_once = true},
    {.name = "FSDP 2 × CP 2, scan, gathers by block and ahead",
     .shard = 2,
     .context = 2,
     .scan = true,
     .gathers = {.by_block = true, .ahead = true}},
    {.name = "FSDP 8, scan, full remat, weights kept, gathers ahead, reduced once",
     .shard = 8,
     .reshard = false,
     .scan = true,
     .full_remat = true,
     .gathers = {.ahead = true},
     .reduces_once = true},
};

}  // namespace tethys::parity
