#include "transforms/rotate.h"

#include <algorithm>
#include <set>

#include "ir/clone.h"
#include "ops/collective/collective.h"
#include "ops/control/scan.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// What of an iteration can be done one iteration early: gathers of parameters of which it has slices, and the casts and
// reshapes that they are computed from.
struct Early {
  std::vector<ValueId> gathered;
  std::vector<NodeId> nodes;  // in order, the gathers among them
  std::vector<size_t> xs;     // which of the xs they read
};

bool gathers_parameter(const Node& node) {
  return node.op == &all_gather_op && collective_attributes(node.attributes).of_parameter;
}

Early early_part(const Graph& region, const ScanAttributes& a) {
  const auto first_x = static_cast<size_t>(a.consts + a.carries);
  // A carry is late, and so is what stands behind a barrier, for that is where somebody wants it to stay.
  std::vector<bool> late(region.value_count(), false), sliced(region.value_count(), false);
  for (size_t i = 0; i < region.inputs().size(); ++i) {
    late[region.inputs()[i]] = i >= static_cast<size_t>(a.consts) && i < first_x;
    sliced[region.inputs()[i]] = i >= first_x;
  }
  Early early;
  std::vector<bool> needed(region.value_count(), false);
  for (NodeId n = 0; n < region.node_count(); ++n) {
    const Node& node = region.node(n);
    if (node.op == &input_op) continue;
    bool waits = node.op == &optimization_barrier_op, slices = false;
    for (ValueId v : node.operands) waits = waits || late[v], slices = slices || sliced[v];
    for (ValueId v : node.results) late[v] = waits, sliced[v] = slices;
    if (!gathers_parameter(node) || waits || !slices) continue;
    early.gathered.push_back(node.results[0]);
    needed[node.results[0]] = true;
  }
  for (NodeId n = region.node_count() - 1; n >= 0; --n) {
    const Node& node = region.node(n);
    const bool any = std::any_of(node.results.begin(), node.results.end(), [&](ValueId v) { return needed[v]; });
    if (!any || node.op == &input_op) continue;
    early.nodes.push_back(n);
    for (ValueId v : node.operands) needed[v] = true;
  }
  std::reverse(early.nodes.begin(), early.nodes.end());
  for (size_t i = first_x; i < region.inputs().size(); ++i) {
    if (needed[region.inputs()[i]]) early.xs.push_back(i - first_x);
  }
  return early;
}

class Rotation {
 public:
  Rotation(const Graph& region, const ScanAttributes& attributes, Early early)
      : region_(region), a_(attributes), early_(std::move(early)) {}

  // Appends the rotated loop to the graph that its operands are of; gives what stands for the loop's results.
  std::vector<Value> run(Graph& graph, const std::vector<Value>& operands) {
    const auto first_carry = operands.begin() + a_.consts, first_x = first_carry + a_.carries;
    ScanOperands all{{operands.begin(), first_carry}, {first_carry, first_x}, {first_x, operands.end()}};
    const int64_t begin = a_.reverse ? a_.length - 1 : 0;
    std::vector<Value> slices;
    for (size_t x : early_.xs) {
      const Value stack = all.xs[x];
      slices.push_back(reshape(slice_dim(stack, 0, begin, begin + 1), slice_type(stack.type()).dims));
    }
    const std::vector<Value> gathered = gather(graph, all.consts, slices);
    for (size_t x : early_.xs) all.consts.push_back(all.xs[x]);
    all.carries.push_back(splat(graph, kIndex, static_cast<double>(begin)));
    all.carries.insert(all.carries.end(), gathered.begin(), gathered.end());
    const ScanResults results = scan(
        graph, a_.length, all, [&](Graph& inner, const ScanOperands& in) { return iteration(inner, in); }, a_.reverse);
    std::vector<Value> as_before(results.carries.begin(), results.carries.begin() + a_.carries);
    as_before.insert(as_before.end(), results.ys.begin(), results.ys.end());
    return as_before;
  }

 private:
  inline static const TensorType kIndex{DType::S32, {}};

  // The early part, on the slices that it reads.
  std::vector<Value> gather(Graph& graph, std::span<const Value> consts, const std::vector<Value>& slices) const {
    ValueMap map(region_.value_count());
    for (int64_t i = 0; i < a_.consts; ++i) map[region_.inputs()[i]] = consts[i];
    for (size_t i = 0; i < slices.size(); ++i)
      map[region_.inputs()[a_.consts + a_.carries + static_cast<int64_t>(early_.xs[i])]] = slices[i];
    for (NodeId n : early_.nodes) clone_node(region_, n, graph, map);
    std::vector<Value> results;
    for (ValueId v : early_.gathered) results.push_back(map[v]);
    return results;
  }

  Value next_of(Value index) const {
    Graph& graph = *index.graph;
    const auto number = [&](int64_t n) { return splat(graph, kIndex, static_cast<double>(n)); };
    return a_.reverse ? maximum(subtract(index, number(1)), number(0))
                      : minimum(add(index, number(1)), number(a_.length - 1));
  }

  ScanResults iteration(Graph& inner, const ScanOperands& in) const {
    const auto index = in.carries.begin() + a_.carries;
    ValueMap map(region_.value_count());
    std::vector<Value> given(in.consts.begin(), in.consts.begin() + a_.consts);
    given.insert(given.end(), in.carries.begin(), index);
    given.insert(given.end(), in.xs.begin(), in.xs.end());
    for (size_t i = 0; i < given.size(); ++i) map[region_.inputs()[i]] = given[i];

    const Value next = next_of(*index);
    std::vector<Value> slices;
    for (auto stack = in.consts.begin() + a_.consts; stack != in.consts.end(); ++stack)
      slices.push_back(slice_at(*stack, next));
    const std::vector<Value> ahead = gather(inner, in.consts, slices);

    const std::set<ValueId> early(early_.gathered.begin(), early_.gathered.end());
    for (size_t i = 0; i < early_.gathered.size(); ++i)
      map[early_.gathered[i]] = *(index + 1 + static_cast<int64_t>(i));
    for (NodeId n = 0; n < region_.node_count(); ++n) {
      const Node& node = region_.node(n);
      if (node.op != &input_op && !early.contains(node.results[0])) clone_node(region_, n, inner, map);
    }
    ScanResults out;
    for (int64_t i = 0; i < a_.carries; ++i) out.carries.push_back(map[region_.outputs()[i]]);
    out.carries.push_back(next);
    out.carries.insert(out.carries.end(), ahead.begin(), ahead.end());
    for (size_t i = a_.carries; i < region_.outputs().size(); ++i) out.ys.push_back(map[region_.outputs()[i]]);
    return out;
  }

  const Graph& region_;
  ScanAttributes a_;
  Early early_;
};

}  // namespace

std::shared_ptr<Graph> rotate(const Graph& local) {
  return rewritten(local, [&](NodeId n, Graph& target, ValueMap& map) {
    const Node& node = local.node(n);
    Regions regions;
    for (const auto& region : node.regions) regions.push_back(rotate(*region));
    if (node.op->structure == Structure::Loop) {
      const ScanAttributes& attributes = scan_attributes(node.attributes);
      Early early = early_part(*regions[0], attributes);
      if (!early.gathered.empty()) {
        std::vector<Value> operands;
        for (ValueId v : node.operands) operands.push_back(map[v]);
        target.set_scope(node.scope);
        const std::vector<Value> results = Rotation(*regions[0], attributes, std::move(early)).run(target, operands);
        target.set_scope("");
        for (size_t i = 0; i < results.size(); ++i) map[node.results[i]] = results[i];
        return;
      }
    }
    clone_node(local, n, target, map, std::move(regions));
  });
}

}  // namespace tethys
