// Eager mode: every node runs at once, when it is recorded, as a program of its own on the same path as a whole step.
// Values can then be read and printed inside the model, on one device or on a mesh.
//
//   Graph graph;
//   EagerObserver eager(executor, graph);
//   Value x = graph.input(type, "x");
//   eager.bind_input(x, to_device(…));
//   Value y = tanh(x);
//   eager.read(y);
//
// The number of a splat is an argument of its program, so that a program is found in the cache when only a learning
// rate changes. Nothing that was computed is freed before the observer goes, unless by release(): a vjp may read any
// value of the forward.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "runtime/executor.h"

namespace tethys {

// One op that has run.
struct EagerStep {
  const Node& node;
  // The iterations of the scans that it stands in, outermost first; empty outside of them.
  const std::vector<int64_t>& iterations;
  const std::vector<Array>& results;
};

// "tanh of layers.attention, iteration 3"
std::string describe(const Node& node, const std::vector<int64_t>& iterations);

struct EagerOptions {
  // Runs scans iteration by iteration and the bodies of checkpoints op by op, to find the op that went wrong. Otherwise
  // each is one program.
  bool unroll = false;
  // Sees each op that has run.
  std::function<void(const EagerStep&)> inspect = nullptr;
};

class EagerObserver : public GraphObserver {
 public:
  // Hangs itself on the graph. The graph and the executor must outlive it.
  EagerObserver(Executor& executor, Graph& graph, EagerOptions options = {});
  EagerObserver(const EagerObserver&) = delete;
  EagerObserver& operator=(const EagerObserver&) = delete;
  ~EagerObserver() override;

  // Gives an input its data, before anything reads it. InternalError if the types differ.
  void bind_input(const Value& value, Array array);

  // The data of a value. InternalError if it has none.
  const Array& array(const Value& value) const;
  HostTensor read(const Value& value) override;
  // Frees the data of a value that nothing reads any more.
  void release(const Value& value);

  void appended(Graph& graph, NodeId node) override;
  void dropped(const Value&) override {}

 private:
  using Arrays = std::vector<Array>;

  // All take the arrays of a node's operands and return those of its results.
  Arrays run(const OpCall& call, const Node& node, const Arrays& operands);
  Arrays run_alone(const OpCall& call, const Arrays& operands);
  Arrays run_scan(const OpCall& call, const Arrays& operands);
  Arrays run_region(const Graph& region, const Arrays& inputs);
  Array fill(const OpCall& call);
  // One slice of an array of stacked ones, and the reverse.
  Array slice(const Array& stacked, int64_t index);
  Array stack(const Arrays& slices);

  Executor& executor_;
  Graph& graph_;
  EagerOptions options_;
  std::map<ValueId, Array> arrays_;
  std::vector<int64_t> iterations_;
};

}  // namespace tethys
