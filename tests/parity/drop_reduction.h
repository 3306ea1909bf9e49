// A fault made on purpose: a program of one device in which one reduction over devices is left out.
#pragma once

#include <memory>
#include <string>

#include "ir/graph.h"
#include "values/mesh.h"

namespace tethys::parity {

enum class Dropped { Loss, Norm, Gradient };

const char* name_of(Dropped what);

// `local` is a training step with loss and norm as outputs `loss` and `loss` + 1. InternalError if it reduces nothing
// of the kind over the axis.
std::shared_ptr<Graph> without_reduction(const Graph& local, const Mesh& mesh, Dropped what, const std::string& axis,
                                         size_t loss);

}  // namespace tethys::parity
