// localise: turns a placed graph into the program of one device. Types become local, redistribute nodes become
// collectives, slices, pads and casts, and generators are made where and as they are read.
#pragma once

#include <memory>

#include "ir/graph.h"
#include "values/mesh.h"

namespace tethys {

// Input and output placements stay on the values of the result (with local types), for the Executor to read.
std::shared_ptr<Graph> localise(const Graph& placed, const Mesh& mesh);

}  // namespace tethys
