// legalize: the one place where ops become what a platform has. A kernel node becomes a call to its lowering where the
// platform has one that takes its shapes, and its reference composition everywhere else; moves to the host's memory
// stay where there is one.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "ir/graph.h"

namespace tethys {

struct Capabilities {
  std::string platform = "cpu";
  // Names of kernels whose lowering may be used; all others use their reference.
  std::set<std::string> kernels = {};
  // Whether a program may keep values in the host's memory (ops/control/to_memory.h).
  bool host_memory = false;
};

std::shared_ptr<Graph> legalize(const Graph& local, const Capabilities& capabilities);

}  // namespace tethys
