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

class EagerObserver : public GraphObserver {
 public:
  // Sees the results of each node that has run.
  using Inspector = std::function<void(Graph& graph, NodeId node, const std::vector<Array>& results)>;

  // Hangs itself on the graph. The graph and the executor must outlive it.
  EagerObserver(Executor& executor, Graph& graph);
  EagerObserver(const EagerObserver&) = delete;
  EagerObserver& operator=(const EagerObserver&) = delete;
  ~EagerObserver() override;

  // Gives an input its data, before anything reads it. InternalError if the types differ.
  void bind_input(const Value& value, Array array);
  void set_inspector(Inspector inspector) { inspector_ = std::move(inspector); }

  // The data of a value. InternalError if it has none.
  const Array& array(const Value& value) const;
  HostTensor read(const Value& value) override;
  // Frees the data of a value that nothing reads any more.
  void release(const Value& value);

  void appended(Graph& graph, NodeId node) override;
  void dropped(const Value&) override {}

 private:
  std::vector<Array> run(Graph& graph, NodeId node);
  std::vector<Array> fill(const Node& node, const TensorType& type);

  Executor& executor_;
  Graph& graph_;
  Inspector inspector_;
  std::map<ValueId, Array> arrays_;
};

}  // namespace tethys
