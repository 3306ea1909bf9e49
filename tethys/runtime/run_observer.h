// RunObserver: what the modes that run a graph while it is recorded share, eager (runtime/eager.h) and deferred
// (runtime/deferred.h): the data of its values, and what of it can still be asked for.
//
// The data of a value is freed with its last Tensor, but what the vjp of an op reads is kept while a gradient may come
// to that op (runtime/liveness.h); values that no Tensor ever held stay until the observer goes. A value that is read
// again after all, by a plain Value of it, is computed again.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/graph.h"
#include "runtime/executor.h"
#include "runtime/liveness.h"

namespace tethys {

class RunObserver : public GraphObserver {
 public:
  // Hangs itself on the graph. The graph and the executor must outlive it.
  RunObserver(Executor& executor, Graph& graph);
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  ~RunObserver() override;

  // Gives an input its data, before anything reads it. InternalError if the types differ.
  void bind_input(const Value& value, Array array);

  // The data of a value. InternalError if it has none.
  virtual const Array& array(const Value& value) = 0;
  HostTensor read(const Value& value) override;

  // The end of a step: of all that was recorded only these will be asked for.
  virtual void end_step(const std::vector<Value>& wanted) = 0;

  void dropped(const Value& value) override;

 protected:
  bool has_data(ValueId value) const { return arrays_.contains(value); }
  // The nodes from which values that have no data are computed, in the order in which they were recorded.
  std::set<NodeId> missing_for(std::vector<ValueId> values) const;

  Executor& executor_;
  Graph& graph_;
  Liveness liveness_;
  std::map<ValueId, Array> arrays_;
};

// A graph that is made of arrays, to be called with them.
class CalledGraph {
 public:
  explicit CalledGraph(Executor& executor) : executor_(executor) {}

  Graph& graph() { return graph_; }

  // Operands that are the same array are one input: a program may not be handed a buffer twice on every plugin.
  Value input(const Array& array);

  std::vector<Array> call(const std::vector<Value>& outputs);

 private:
  Executor& executor_;
  Graph graph_;
  std::vector<Array> arguments_;
  std::vector<Value> inputs_;  // one per argument
};

}  // namespace tethys
