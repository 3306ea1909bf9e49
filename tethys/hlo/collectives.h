// The collectives of a compiled program: what each moves, and what is computed meanwhile. A compiler has many
// spellings: one instruction that waits; a start and a done; a computation that another core runs between start, update
// and done; a fusion that begins, fusions that carry on beside their own matrix product, and one that ends. Over
// several slices each has a program of its own, which numbers its devices from 0; what passes between them is a send
// and a recv.
//
//   for (const hlo::Collective& c : hlo::collectives_of(costs)) …   c.kind, c.received(), c.window.matmul_cycles
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/costs.h"
#include "hlo/module.h"
#include "values/mesh.h"

namespace tethys::hlo {

struct Collective {
  std::string kind;   // "all-gather"; "reduce-scatter" also where it is an all-reduce fused with a slice
  std::string scope;  // what the program's source says of where it is from
  std::string dtype;
  int64_t bytes = 0;                         // of the whole array: what a gather gives, what goes into the others
  std::vector<std::vector<int64_t>> groups;  // of a permute: its pairs
  double runs = 0;                           // in one run of the program
  bool async = false;
  bool between_slices = false;  // of one device of each slice: groups are not said
  Cost window;  // of one run: of what is scheduled between its start and its end; nothing where it waits
  // Where it is: the instructions of this computation at which it starts and ends, and the cycles of those before them.
  size_t computation = 0;
  size_t start = 0, end = 0;
  double start_cycles = 0, end_cycles = 0;

  // How many devices take part in one group.
  int64_t size() const;
  // The bytes that a device receives in one run, at least, and as many it sends.
  double received() const;
  bool reduces() const { return kind == "all-reduce" || kind == "reduce-scatter"; }
};

// In the order of the schedule.
std::vector<Collective> collectives_of(const Costs& costs);

// Whether an instruction is a collective or a part of one.
bool is_collective(const Module& module, const Instruction& instruction);

// The axes of a mesh that the groups lie along, as in "dp_shard" or "dp_shard, cp"; "other" if they lie along none.
std::string axes_of(const Collective& collective, const Mesh& mesh);

}  // namespace tethys::hlo
