#include "transforms/grad.h"

#include "ops/control/redistribute.h"
#include "ops/elementwise/convert.h"
#include "ops/registry.h"
#include "ops/shape/splat.h"
#include "transforms/cotangents.h"
#include "transforms/grad_region.h"

namespace tethys {
namespace {

// Whether each value depends on one of `wrt` in a way that has a gradient.
std::vector<bool> active_values(const Graph& graph, std::span<const Value> wrt, ValueId end) {
  std::vector<bool> active(end, false);
  for (const Value& v : wrt) active[v.id] = true;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (node.op->gradient == Gradient::None) continue;
    bool any = false;
    for (ValueId v : node.operands) any = any || (v < end && active[v]);
    for (ValueId v : node.results) {
      if (any && v < end && is_floating(graph.type(v).dtype)) active[v] = true;
    }
  }
  return active;
}

void check_types(const VjpContext& context, const Cotangents& given, const std::string& op) {
  require(given.size() <= context.operands.size(), "the rule of {} gives {} cotangents for {} operands", op,
          given.size(), context.operands.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    require(given[i]->dims() == context.operands[i].dims() && is_floating(given[i]->dtype()),
            "the rule of {} gives a cotangent {} for operand {} of type {}", op, to_string(given[i]->type()), i,
            to_string(context.operands[i].type()));
  }
}

}  // namespace

CotangentMap backward(Graph& graph, std::span<const Value> wrt, std::span<const Value> outputs,
                      std::span<const std::optional<Value>> seeds, const RematPolicy& policy) {
  const ValueId forward_end = graph.value_count();
  const NodeId last = graph.node_count() - 1;
  const std::vector<bool> active = active_values(graph, wrt, forward_end);
  const std::string outer_scope = graph.scope();
  CotangentMap cotangents;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (seeds[i]) cotangents.add(outputs[i], *seeds[i]);
  }
  for (NodeId n = last; n >= 0; --n) {
    const Node& node = graph.node(n);
    if (node.op->gradient == Gradient::None) continue;
    VjpContext context{graph, graph.call(n), {}, {}, {}, {}};
    bool wanted = false;
    bool reached = false;
    for (ValueId v : node.operands) {
      context.operands.push_back({&graph, v});
      context.wanted.push_back(active[v]);
      wanted = wanted || active[v];
    }
    for (ValueId v : node.results) {
      context.results.push_back({&graph, v});
      context.cotangents.push_back(cotangents.find({&graph, v}));
      reached = reached || context.cotangents.back().has_value();
    }
    if (!wanted || !reached) continue;
    graph.set_scope(node.scope);
    const std::string name = node.op->name;
    if (node.op->gradient == Gradient::Missing) {
      internal_error("{} has no gradient and is asked for one{}", name, node.scope.empty() ? "" : "; in " + node.scope);
    }
    Cotangents given;
    if (node.op->gradient == Gradient::Region) {
      given = region_cotangents(graph, n, context, policy);
    } else {
      // A rule sees cotangents of its results' dtypes; the wider ones of parametrizations are left to redistribute.
      for (size_t i = 0; i < context.cotangents.size(); ++i) {
        if (context.cotangents[i] && node.op != &redistribute_op) {
          context.cotangents[i] = convert(*context.cotangents[i], context.results[i].dtype());
        }
      }
      given = node.op->vjp(context);
    }
    check_types(context, given, name);
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] && context.wanted[i]) cotangents.add(context.operands[i], *given[i]);
    }
  }
  graph.set_scope(outer_scope);
  return cotangents;
}

std::vector<std::optional<Value>> gradients(Value output, std::span<const Value> wrt, const RematPolicy& policy) {
  require(output.rank() == 0 && is_floating(output.dtype()), "the gradient of {}, which is no floating scalar",
          to_string(output.type()));
  const std::optional<Value> one = splat(*output.graph, output.type(), 1);
  const CotangentMap cotangents = backward(*output.graph, wrt, {&output, 1}, {&one, 1}, policy);
  std::vector<std::optional<Value>> result;
  for (const Value& v : wrt) result.push_back(cotangents.find(v));
  return result;
}

}  // namespace tethys
