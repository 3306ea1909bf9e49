// TpuKind: what a kind of TPU is, from its data sheet: a row of one table. Slice: the grid of chips that a topology's
// name stands for. Plain values; nobody needs to have the chips.
//
//   Slice slice = slice_named("v6e:16x16", 2);   // two slices of 256 chips
//   slice.devices();                             // 512
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tethys {

// Rates are of one device, as PJRT counts devices, in bytes, FLOP or cycles a second.
struct TpuKind {
  std::string_view name;     // in a topology's name: "v6e"
  int64_t grid_rank = 2;     // of the grid of chips
  int64_t most_chips = 256;  // of a slice
  int64_t devices_per_chip = 1;
  double usable_hbm = 0;  // bytes that a program may take: what the compiler says in its error of one too large
  double peak_flops = 0;  // in bf16
  double clock = 0;       // of the cycles that the compiler estimates
  double hbm_rate = 0;
  double ici_receive = 0;  // links between the chips of a slice: what a device can receive; it can send as much
  double dcn_receive = 0;  // the network between slices
};

const std::vector<TpuKind>& tpu_kinds();

struct Slice {
  std::string topology;  // "v6e:16x16"
  const TpuKind* kind = nullptr;
  int64_t chips = 1;   // of one slice
  int64_t slices = 1;  // alike, on one network

  int64_t devices() const { return slices * chips * kind->devices_per_chip; }
};

// UserError, which lists what is known, for a name that is no topology.
Slice slice_named(const std::string& topology, int64_t slices = 1);

// "v6e:16x16", "2 × v6e:16x16".
std::string to_string(const Slice& slice);

}  // namespace tethys
