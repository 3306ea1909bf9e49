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
// A splat or an iota does not run: it is part of the program of each op that reads it, so that it is placed as its
// neighbours are. The number of a splat is an argument there, so that the program is found in the cache when only a
// learning rate changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/run_observer.h"

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
// The same where the op is said to be of another module than its scope.
std::string describe(const Node& node, std::string_view module, const std::vector<int64_t>& iterations);

struct EagerOptions {
  // Runs scans iteration by iteration and the bodies of checkpoints op by op, to find the op that went wrong. Otherwise
  // each is one program.
  bool unroll = false;
  // Sees each op that has run, and of what is computed again only the first time.
  std::function<void(const EagerStep&)> inspect = nullptr;
};

class EagerObserver : public RunObserver {
 public:
  EagerObserver(Executor& executor, Graph& graph, EagerOptions options = {});

  const Array& array(const Value& value) override;
  void end_step(const std::vector<Value>&) override {}
  void appended(Graph& graph, NodeId node) override;

 private:
  using Arrays = std::vector<Array>;
  // A value as an op takes it: data, or the generator that the op's program makes it with.
  struct Operand {
    Array array;
    const Node* generator = nullptr;
    TensorType type;
  };
  using Operands = std::vector<Operand>;

  Operand operand(ValueId value);
  void run_node(NodeId node);
  void run_again(ValueId value);

  // These return the results of a node or region.
  Arrays run(const OpCall& call, const Node& node, const Operands& operands);
  Arrays run_alone(const OpCall& call, const Operands& operands);
  Arrays run_scan(const OpCall& call, const Operands& operands);
  Operands run_region(const Graph& region, const Operands& inputs);
  Array data_of(const Operand& operand);
  // One slice of an array of stacked ones, and the reverse.
  Array slice(const Array& stacked, int64_t index);
  Array stack(const Arrays& slices);

  EagerOptions options_;
  bool again_ = false;  // what runs has run before
  std::vector<int64_t> iterations_;
};

}  // namespace tethys
