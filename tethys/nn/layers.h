// run_layers: a stack of equal blocks, as a loop in the program or written out.
//
// Written out, each block is its own stretch of nodes, inside a checkpoint where activations are to be computed again.
// As a scan one block is recorded: its parameters are bound to the stacked values [L, …] of all blocks, and inside the
// loop to one slice of them. What blocks leave for parameters that are not trained is left in the outer graph too.
#pragma once

#include <functional>
#include <vector>

#include "nn/module.h"

namespace tethys {

struct LayerOptions {
  bool scan = false;
  // Each block is a unit whose activations a remat policy may compute again.
  bool checkpoint = false;
};

// Records one block on x, given the same `constants` in the graph that x belongs to.
using RunLayer = std::function<Tensor(size_t layer, const Tensor& x, const std::vector<Tensor>& constants)>;

Tensor run_layers(const std::vector<Module*>& blocks, const Tensor& x, const std::vector<Tensor>& constants,
                  const LayerOptions& options, const RunLayer& run);

}  // namespace tethys
