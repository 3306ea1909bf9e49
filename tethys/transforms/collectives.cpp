#include "transforms/collectives.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/glob.h"
#include "ops/collective/collective.h"
#include "ops/control/scan.h"
#include "ops/registry.h"

namespace tethys {
namespace {

std::string axes_of(const Node& node, const Mesh& mesh) {
  std::vector<std::string> names;
  for (int64_t axis : collective_attributes(node.attributes).axes) names.push_back(mesh.axes()[axis].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_alike(const CollectiveUse& a, const CollectiveUse& b) {
  return a.kind == b.kind && a.axes == b.axes && a.scope == b.scope && a.type == b.type;
}

void collect(const Graph& graph, const Mesh& mesh, int64_t runs, std::vector<CollectiveUse>& found) {
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    const int64_t times = node.op->structure == Structure::Loop ? scan_attributes(node.attributes).length : 1;
    for (const auto& region : node.regions) collect(*region, mesh, runs * times, found);
    if (!node.op->collective) continue;
    const TensorType& out = graph.type(node.results[0]);
    const TensorType& in = graph.type(node.operands[0]);
    const CollectiveUse use{
        node.op->name, axes_of(node, mesh), with_stars(node.scope), out.elements() > in.elements() ? out : in, 1, runs};
    const auto same = std::find_if(found.begin(), found.end(), [&](const auto& other) { return is_alike(other, use); });
    if (same == found.end()) {
      found.push_back(use);
    } else {
      ++same->sites;
      same->runs += runs;
    }
  }
}

}  // namespace

std::vector<CollectiveUse> collectives_of(const Graph& local, const Mesh& mesh) {
  std::vector<CollectiveUse> found;
  collect(local, mesh, 1, found);
  return found;
}

}  // namespace tethys
