// Splitting a region into a forward that returns residuals and a backward that reads them: what scan and checkpoint
// share, and where a remat policy acts.
#pragma once

#include "transforms/cotangents.h"

namespace tethys {

struct RegionSplit {
  // The region's nodes, then its backward. Inputs: the region's, then one seed per output that has a cotangent.
  std::shared_ptr<Graph> joint;
  NodeId forward_nodes = 0;                     // nodes of the joint graph before the seeds and the backward
  std::vector<std::optional<Value>> seeds;      // per region output
  std::vector<std::optional<Value>> gradients;  // per region input
  std::vector<ValueId> residuals;               // forward values that the backward is given
  std::vector<bool> offloaded;                  // per residual: it waits in the host's memory
  std::vector<bool> replayed;                   // per node: part of the backward, or computed again for it
};

struct SplitRequest {
  std::vector<bool> wanted;     // per region input: its gradient is asked for
  std::vector<bool> seeded;     // per region output: it has a cotangent
  std::vector<bool> available;  // per region input: the backward has it at no cost
  std::vector<bool> invariant;  // per region input: the same in every iteration, so that what follows from it is too
};

RegionSplit split_region(const Graph& region, const SplitRequest& request, const RematPolicy& policy);

// The forward: the region with its residuals as further outputs.
std::shared_ptr<Graph> forward_region(const RegionSplit& split, const Graph& region);

// Residual number i, in the device's memory, from what the forward gave for it.
Value fetched(const RegionSplit& split, size_t i, Value given);

// Appends the backward to `target`. `map` has the available inputs, the residuals and the seeds; returns the gradients.
std::vector<std::optional<Value>> replay_backward(const RegionSplit& split, Graph& target, std::vector<Value>& map);

}  // namespace tethys
