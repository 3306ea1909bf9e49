#include "runtime/liveness.h"

#include <algorithm>

#include "transforms/vjp_reads.h"

namespace tethys {

Liveness::ValueState& Liveness::at(ValueId value) {
  if (values_.size() <= static_cast<size_t>(value)) values_.resize(static_cast<size_t>(graph_.value_count()));
  return values_[value];
}

Liveness::NodeState& Liveness::node_at(NodeId node) {
  if (nodes_.size() <= static_cast<size_t>(node)) nodes_.resize(static_cast<size_t>(graph_.node_count()));
  return nodes_[node];
}

void Liveness::appended(NodeId id) {
  NodeState& state = node_at(id);
  for (ValueId v : state.reads) --at(v).vjps;
  state.reads = vjp_reads(graph_, id);
  for (ValueId v : state.reads) ++at(v).vjps;
  if (!state.known) {
    for (ValueId v : graph_.node(id).operands) ++at(v).readers;
  }
  state.known = true;
}

bool Liveness::needed(ValueId value) {
  const ValueState& state = at(value);
  return !state.dropped || graph_.info(value).handles > 0 || state.vjps > 0;
}

bool Liveness::is_end(ValueId value) {
  const ValueState& state = at(value);
  return state.dropped && graph_.info(value).handles == 0 && state.readers == 0;
}

std::vector<ValueId> Liveness::dropped(ValueId value) {
  at(value).dropped = true;
  std::vector<ValueId> freed;
  const auto free_unless_needed = [&](ValueId v) {
    if (!needed(v) && !is_input(v)) freed.push_back(v);
  };
  free_unless_needed(value);
  for (std::vector<ValueId> ends = {value}; !ends.empty();) {
    const ValueId end = ends.back();
    ends.pop_back();
    if (is_input(end)) continue;
    const NodeId id = graph_.info(end).node;
    const Node& node = graph_.node(id);
    NodeState& state = node_at(id);
    const bool dies = state.known && !state.dead &&
                      std::all_of(node.results.begin(), node.results.end(), [this](ValueId v) { return is_end(v); });
    if (!dies) continue;
    state.dead = true;
    for (ValueId v : std::exchange(state.reads, {})) {
      --at(v).vjps;
      free_unless_needed(v);
    }
    for (ValueId v : node.operands) {
      --at(v).readers;
      ends.push_back(v);
    }
  }
  return freed;
}

}  // namespace tethys
