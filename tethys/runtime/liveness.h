// Liveness: which data of a graph that runs op by op can still be asked for. A value whose last handle was dropped is
// kept while a vjp may read it: while a gradient may start at a value that follows from it. A value that never had a
// handle is kept, for nobody knows who holds a plain Value.
//
//   Liveness liveness(graph);
//   liveness.appended(node);                               // for every node, as it is recorded
//   for (ValueId v : liveness.dropped(value)) …free v…
#pragma once

#include <vector>

#include "ir/graph.h"

namespace tethys {

class Liveness {
 public:
  // The graph must outlive it.
  explicit Liveness(const Graph& graph) : graph_(graph) {}

  // A node was recorded, or has got further results.
  void appended(NodeId node);
  // The last handle on a value is gone. The values whose data nothing will read any more; inputs are never among them.
  std::vector<ValueId> dropped(ValueId value);
  // A value is read as a plain Value after its last handle: it is kept from now on.
  void kept(ValueId value) { at(value).dropped = false; }
  bool needed(ValueId value);

 private:
  struct ValueState {
    bool dropped = false;
    int readers = 0;  // nodes at whose results a gradient may arrive
    int vjps = 0;     // those of them, and its own, whose vjp reads it
  };
  struct NodeState {
    bool known = false;
    bool dead = false;  // no gradient arrives at its results
    std::vector<ValueId> reads;
  };

  ValueState& at(ValueId value);
  NodeState& node_at(NodeId node);
  // Dropped, and no gradient arrives at it from elsewhere.
  bool is_end(ValueId value);
  bool is_input(ValueId value) const { return graph_.producer(value).op == &input_op; }

  const Graph& graph_;
  std::vector<ValueState> values_;
  std::vector<NodeState> nodes_;
};

}  // namespace tethys
