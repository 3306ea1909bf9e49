// legalize: the one place where ops become kernel calls. A kernel node becomes a call to its lowering where the
// platform has one that takes its shapes, and its reference composition everywhere else.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "ir/graph.h"

namespace tethys {

struct Capabilities {
  std::string platform = "cpu";
  // Names of kernels whose lowering may be used; all others use their reference.
  std::set<std::string> kernels;
};

std::shared_ptr<Graph> legalize(const Graph& local, const Capabilities& capabilities);

}  // namespace tethys
