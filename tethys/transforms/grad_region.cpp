#include "transforms/grad_region.h"

#include "ir/clone.h"
#include "ops/control/barrier.h"
#include "ops/control/scan.h"
#include "ops/elementwise/convert.h"
#include "ops/registry.h"
#include "ops/shape/splat.h"
#include "transforms/region_split.h"

namespace tethys {
namespace {

// Remat only holds if the compiler cannot see through it: saved values and the incoming cotangents pass one barrier, so
// that the recomputation can neither be merged with the forward nor start before the backward has come this far.
void put_behind_barrier(std::vector<Value*> values) {
  if (values.empty()) return;
  std::vector<Value> in;
  for (const Value* v : values) in.push_back(*v);
  const std::vector<Value> out = optimization_barrier(in);
  for (size_t i = 0; i < values.size(); ++i) *values[i] = out[i];
}

// Whether the backward gathers parameters anew that the forward has gathered.
bool gathers_again(const RegionSplit& s) {
  for (NodeId n = 0; n < s.forward_nodes; ++n) {
    if (s.replayed[n] && s.joint->node(n).op == &redistribute_op) return true;
  }
  return false;
}

// --- scan ---

struct ScanBackward {
  Graph& graph;
  NodeId node;
  const VjpContext& context;
  const RematPolicy& policy;
  ScanAttributes attributes;
  size_t consts, carries, xs;  // counts of operands
  std::vector<bool> active;    // per region input: differentiated

  ScanBackward(Graph& g, NodeId n, const VjpContext& c, const RematPolicy& p)
      : graph(g), node(n), context(c), policy(p), attributes(scan_attributes(g.node(n).attributes)) {
    consts = static_cast<size_t>(attributes.consts);
    carries = static_cast<size_t>(attributes.carries);
    xs = context.operands.size() - consts - carries;
    find_active();
  }

  // A carry is differentiated if it was before the loop or becomes so in any iteration.
  void find_active() {
    const Graph& region = *graph.node(node).regions[0];
    active = context.wanted;
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<bool> values(region.value_count(), false);
      for (size_t i = 0; i < active.size(); ++i) values[region.inputs()[i]] = active[i];
      for (NodeId n = 0; n < region.node_count(); ++n) {
        const Node& inner = region.node(n);
        if (inner.op->gradient == Gradient::None) continue;
        bool any = false;
        for (ValueId v : inner.operands) any = any || values[v];
        for (ValueId v : inner.results) values[v] = any && is_floating(region.type(v).dtype);
      }
      for (size_t i = 0; i < carries; ++i) {
        if (values[region.outputs()[i]] && !active[consts + i]) active[consts + i] = changed = true;
      }
    }
  }

  RegionSplit split() const {
    SplitRequest request{active, {}, std::vector<bool>(active.size(), true), std::vector<bool>(active.size(), false)};
    for (size_t i = 0; i < context.cotangents.size(); ++i) {
      request.seeded.push_back(i < carries ? active[consts + i] : context.cotangents[i].has_value());
    }
    for (size_t i = 0; i < consts; ++i) request.invariant[i] = true;
    for (size_t i = 0; i < carries; ++i) request.available[consts + i] = false;
    return split_region(*graph.node(node).regions[0], request, policy);
  }

  Value zeros(const TensorType& type) const { return splat(graph, type, 0); }

  // The operands of the reversed scan: cotangents of carries and sums of const gradients ride along; slices are those
  // of the xs, the residuals and the cotangents of the ys.
  ScanOperands operands(const RegionSplit& s, const std::vector<Value>& residuals) const {
    ScanOperands out;
    out.consts.assign(context.operands.begin(), context.operands.begin() + static_cast<int64_t>(consts));
    for (size_t i = 0; i < carries; ++i) {
      if (!active[consts + i]) continue;
      const TensorType& type = context.results[i].type();
      const auto& g = context.cotangents[i];
      out.carries.push_back(g ? convert(*g, type.dtype) : zeros(type));
    }
    for (size_t i = 0; i < consts; ++i) {
      const auto& g = s.gradients[i];
      if (g) out.carries.push_back(zeros(g->type().with_dtype(promote(DType::F32, g->dtype()))));
    }
    out.xs.assign(context.operands.begin() + static_cast<int64_t>(consts + carries), context.operands.end());
    out.xs.insert(out.xs.end(), residuals.begin(), residuals.end());
    for (size_t i = carries; i < context.cotangents.size(); ++i) {
      if (context.cotangents[i]) out.xs.push_back(convert(*context.cotangents[i], context.results[i].dtype()));
    }
    return out;
  }

  ScanResults iteration(const RegionSplit& s, Graph& region, const ScanOperands& in) const {
    ValueMap map(s.joint->value_count());
    const auto& inputs = s.joint->inputs();
    for (size_t i = 0; i < consts; ++i) map[inputs[i]] = in.consts[i];
    for (size_t i = 0; i < xs; ++i) map[inputs[consts + carries + i]] = in.xs[i];
    std::vector<Value*> behind;
    auto put = [&](ValueId id, Value v) {
      map[id] = v;
      behind.push_back(&map[id]);
    };
    for (size_t i = 0; i < s.residuals.size(); ++i) put(s.residuals[i], fetched(s, i, in.xs[xs + i]));
    size_t carry = 0;
    size_t y = xs + s.residuals.size();
    for (size_t i = 0; i < s.seeds.size(); ++i) {
      if (s.seeds[i]) put(s.seeds[i]->id, i < carries ? in.carries[carry++] : in.xs[y++]);
    }
    if (policy.kind != RematPolicy::Kind::None) put_behind_barrier(behind);
    const auto gradients = replay_backward(s, region, map);

    ScanResults out;
    for (size_t i = 0; i < carries; ++i) {
      if (!active[consts + i]) continue;
      const auto& g = gradients[consts + i];
      const TensorType& type = s.joint->type(inputs[consts + i]);
      out.carries.push_back(g ? convert(*g, type.dtype) : splat(region, type, 0));
    }
    for (size_t i = 0; i < consts; ++i) {
      if (!gradients[i]) continue;
      const Value& sum = in.carries[carry++];
      out.carries.push_back(add(sum, convert(*gradients[i], sum.dtype())));
    }
    for (size_t i = consts + carries; i < gradients.size(); ++i) {
      if (gradients[i]) out.ys.push_back(*gradients[i]);
    }
    return out;
  }

  Cotangents run() {
    const RegionSplit s = split();
    std::vector<TensorType> further;
    for (ValueId v : s.residuals) {
      TensorType type = s.joint->type(v);
      type.dims.insert(type.dims.begin(), attributes.length);
      further.push_back(type);
    }
    const size_t before = graph.node(node).results.size();
    const std::shared_ptr<Graph> region = forward_region(s, *graph.node(node).regions[0]);
    graph.extend(node, graph.node(node).attributes, {region}, further);
    std::vector<Value> residuals;
    for (size_t i = before; i < graph.node(node).results.size(); ++i) {
      residuals.push_back(graph.value(graph.node(node).results[i]));
    }
    const ScanResults results = scan(
        graph, attributes.length, operands(s, residuals),
        [&](Graph& inner, const ScanOperands& in) { return iteration(s, inner, in); }, !attributes.reverse);

    Cotangents cotangents(context.operands.size());
    size_t carry = 0;
    size_t y = 0;
    for (size_t i = 0; i < carries; ++i) {
      if (active[consts + i]) cotangents[consts + i] = results.carries[carry++];
    }
    for (size_t i = 0; i < consts; ++i) {
      if (s.gradients[i]) cotangents[i] = results.carries[carry++];
    }
    for (size_t i = consts + carries; i < cotangents.size(); ++i) {
      if (s.gradients[i]) cotangents[i] = results.ys[y++];
    }
    return cotangents;
  }
};

// --- checkpoint ---

Cotangents checkpoint_cotangents(Graph& graph, NodeId node, const VjpContext& context, const RematPolicy& policy) {
  const size_t count = context.operands.size();
  SplitRequest request{context.wanted, {}, std::vector<bool>(count, true), std::vector<bool>(count, false)};
  for (const auto& g : context.cotangents) request.seeded.push_back(g.has_value());
  const RegionSplit s = split_region(*graph.node(node).regions[0], request, policy);
  std::vector<TensorType> further;
  for (ValueId v : s.residuals) further.push_back(s.joint->type(v));
  const size_t before = graph.node(node).results.size();
  const std::shared_ptr<Graph> region = forward_region(s, *graph.node(node).regions[0]);
  graph.extend(node, graph.node(node).attributes, {region}, further);

  ValueMap map(s.joint->value_count());
  std::vector<Value*> behind;
  auto put = [&](ValueId id, Value v) {
    map[id] = v;
    behind.push_back(&map[id]);
  };
  for (size_t i = 0; i < count; ++i) put(s.joint->inputs()[i], context.operands[i]);
  for (size_t i = 0; i < s.residuals.size(); ++i) {
    put(s.residuals[i], fetched(s, i, graph.value(graph.node(node).results[before + i])));
  }
  for (size_t i = 0; i < s.seeds.size(); ++i) {
    if (s.seeds[i]) put(s.seeds[i]->id, convert(*context.cotangents[i], context.results[i].dtype()));
  }
  if (policy.kind != RematPolicy::Kind::None || gathers_again(s)) put_behind_barrier(behind);
  return replay_backward(s, graph, map);
}

}  // namespace

Cotangents region_cotangents(Graph& graph, NodeId node, const VjpContext& context, const RematPolicy& policy) {
  if (graph.node(node).op->structure == Structure::Loop) return ScanBackward(graph, node, context, policy).run();
  return checkpoint_cotangents(graph, node, context, policy);
}

}  // namespace tethys
