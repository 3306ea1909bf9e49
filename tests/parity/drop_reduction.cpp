#include "parity/drop_reduction.h"

#include <algorithm>

#include "ir/clone.h"
#include "ops/collective/collective.h"
#include "ops/collective/part.h"
#include "ops/registry.h"

namespace tethys::parity {
namespace {

// By node: whether the output depends on it.
std::vector<bool> leads_to(const Graph& graph, ValueId output) {
  std::vector<bool> leads(static_cast<size_t>(graph.node_count()), false);
  leads[static_cast<size_t>(graph.info(output).node)] = true;
  for (NodeId n = graph.node_count() - 1; n >= 0; --n) {
    if (!leads[static_cast<size_t>(n)]) continue;
    for (ValueId v : graph.node(n).operands) leads[static_cast<size_t>(graph.info(v).node)] = true;
  }
  return leads;
}

class Dropping {
 public:
  Dropping(const Mesh& mesh, Dropped what, int64_t axis) : mesh_(mesh), what_(what), axis_(axis) {}

  bool done() const { return done_; }

  std::shared_ptr<Graph> run(const Graph& source, const std::vector<bool>& of_loss) {
    return rewritten(source, [&](NodeId n, Graph& target, ValueMap& map) {
      const Node& node = source.node(n);
      if (!done_ && is_it(source, n, of_loss)) {
        map[node.results[0]] = without(map[node.operands[0]], node);
        done_ = true;
        return;
      }
      Regions regions;
      for (const auto& region : node.regions) regions.push_back(run(*region, {}));
      clone_node(source, n, target, map, std::move(regions));
    });
  }

 private:
  bool is_it(const Graph& graph, NodeId n, const std::vector<bool>& of_loss) const {
    const Node& node = graph.node(n);
    if (node.op != &all_reduce_op && node.op != &reduce_scatter_op) return false;
    const CollectiveAttributes& a = collective_attributes(node.attributes);
    const TensorType& type = graph.type(node.operands[0]);
    const bool over = std::find(a.axes.begin(), a.axes.end(), axis_) != a.axes.end();
    if (!over || a.reduction != Reduction::Sum || !is_floating(type.dtype)) return false;
    // Activations have more dimensions than parameters.
    if (what_ == Dropped::Gradient) return type.rank() == 1 || type.rank() == 2;
    if (type.rank() != 0 || of_loss.empty()) return false;
    return of_loss[static_cast<size_t>(n)] == (what_ == Dropped::Loss);
  }

  // The node's value with its reduction over the other axes alone.
  Value without(Value x, const Node& node) const {
    const CollectiveAttributes& a = collective_attributes(node.attributes);
    Dims rest = a.axes;
    std::erase(rest, axis_);
    if (node.op == &all_reduce_op) return rest.empty() ? x : all_reduce(x, mesh_, rest, a.reduction);
    const bool major = a.axes.front() == axis_;
    if (major) x = own_part(x, mesh_, {axis_}, a.dim);
    if (!rest.empty()) x = reduce_scatter(x, mesh_, rest, a.dim, a.reduction);
    return major ? x : own_part(x, mesh_, {axis_}, a.dim);
  }

  const Mesh& mesh_;
  Dropped what_;
  int64_t axis_;
  bool done_ = false;
};

}  // namespace

const char* name_of(Dropped what) {
  switch (what) {
    case Dropped::Loss: return "loss";
    case Dropped::Norm: return "gradient norm";
    case Dropped::Gradient: return "gradient";
  }
  internal_error("no such reduction");
}

std::shared_ptr<Graph> without_reduction(const Graph& local, const Mesh& mesh, Dropped what, const std::string& axis,
                                         size_t loss) {
  const std::optional<int64_t> found = mesh.find(axis);
  require(found.has_value(), "mesh {} has no axis {}", to_string(mesh), axis);
  Dropping dropping(mesh, what, *found);
  std::shared_ptr<Graph> result = dropping.run(local, leads_to(local, local.outputs().at(loss)));
  require(dropping.done(), "no {} is reduced over {}", name_of(what), axis);
  return result;
}

}  // namespace tethys::parity
