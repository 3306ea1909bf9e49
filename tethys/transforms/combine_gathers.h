// combine_gathers: gathers of one block become one. What fully sharded data parallelism gathers for a block is many
// arrays, small ones too, and each collective costs its start; they are laid end to end, gathered once, and taken apart
// (as FSDP's flat parameters are; Zhao et al., PyTorch FSDP, 2023).
#pragma once

#include <memory>

#include "ir/graph.h"
#include "values/mesh.h"

namespace tethys {

// `local` is a program of one device. Gathers of parameters over the same axes and of one dtype go together where they
// belong to the same block (or outside of blocks the same module), and all that they gather is there when the first of
// them runs. Those of activations stay as they are.
std::shared_ptr<Graph> combine_gathers(const Graph& local, const Mesh& mesh);

}  // namespace tethys
