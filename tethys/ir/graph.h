// Graph: the recorded program, an arena of nodes in topological order. A node is an op, its attributes, operands,
// regions and results; a Value is a graph and an index, two words, freely copied.
//
//   Graph g;
//   Value x = g.input({DType::F32, {4}}, "x");
//   Value y = g.append(add_op, {}, {x, x})[0];
//   g.set_outputs({y});
//
// The IR is strict: no broadcasting, no promotion, no negative axes. Regions are graphs of their own whose captures are
// operands of the node. A graph is used by one thread at a time. Values and references to nodes stay valid as it grows.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_record.h"

namespace tethys {

using NodeId = int32_t;
using ValueId = int32_t;

struct Value {
  Graph* graph = nullptr;
  ValueId id = -1;

  const TensorType& type() const;
  DType dtype() const { return type().dtype; }
  const Dims& dims() const { return type().dims; }
  int64_t rank() const { return type().rank(); }
  bool operator==(const Value&) const = default;
};

struct Node {
  const OpRecord* op = nullptr;
  Attributes attributes;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Regions regions;
  std::string scope;  // the module that recorded it, "layers.0.attention", for messages
};

struct ValueInfo {
  NodeId node = -1;
  int32_t result = 0;  // which result of the node
  TensorType type;
  std::string tag;                     // the name by which a remat policy knows it; empty for most
  std::optional<Placement> placement;  // set by inputs and by propagate
  int32_t handles = 0;                 // live Tensors on it; graph mode ignores this
};

// What eager and deferred execution hang on a graph. `appended` may run the node at once.
class GraphObserver {
 public:
  virtual ~GraphObserver() = default;
  // A node was appended, or given further results by grad (then it comes a second time).
  virtual void appended(Graph& graph, NodeId node) = 0;
  virtual HostTensor read(const Value& value) = 0;
  virtual void dropped(const Value& value) = 0;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // --- recording ---
  Value input(TensorType type, std::string name, std::optional<Placement> placement = std::nullopt);
  // Infers the result types, checks them and appends. Errors of inference name the module that records.
  std::vector<Value> append(const OpRecord& op, Attributes attributes, const std::vector<Value>& operands,
                            Regions regions = {}, std::vector<TensorType> declared = {});
  void set_outputs(const std::vector<Value>& outputs);
  // Gives a region node another region and the further results that it has; the old results keep their ids.
  void extend(NodeId node, Attributes attributes, Regions regions, const std::vector<TensorType>& further);

  void set_tag(const Value& value, std::string tag);
  void set_placement(ValueId value, Placement placement);

  // The module path that nodes are recorded under, from now on.
  const std::string& scope() const { return scope_; }
  void set_scope(std::string scope) { scope_ = std::move(scope); }

  // What stands for an object outside the graph (a Parameter) in this graph; nothing if it was never bound.
  void bind(const void* key, const Value& value) { bindings_[key] = value.id; }
  std::optional<Value> bound(const void* key);

  void set_observer(GraphObserver* observer) { observer_ = observer; }
  GraphObserver* observer() const { return observer_; }

  // --- reading ---
  NodeId node_count() const { return static_cast<NodeId>(nodes_.size()); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const ValueInfo& info(ValueId id) const { return values_[id]; }
  ValueId value_count() const { return static_cast<ValueId>(values_.size()); }
  const TensorType& type(ValueId id) const { return values_[id].type; }
  const Node& producer(ValueId id) const { return nodes_[values_[id].node]; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  const std::string& input_name(size_t index) const { return input_names_[index]; }
  Value value(ValueId id) { return {this, id}; }

  // The node's application as rules see it. The call refers to the node: keep the graph.
  OpCall call(NodeId id) const;

  void add_handle(ValueId id) { ++values_[id].handles; }
  void drop_handle(ValueId id);

 private:
  std::deque<Node> nodes_;
  std::deque<ValueInfo> values_;
  std::vector<ValueId> inputs_;
  std::vector<std::string> input_names_;
  std::vector<ValueId> outputs_;
  std::map<const void*, ValueId> bindings_;
  std::string scope_;
  GraphObserver* observer_ = nullptr;
};

// The op of a graph's inputs.
extern const OpRecord input_op;

// Records under "outer.name" while it lives.
class Scope {
 public:
  Scope(Graph& graph, std::string_view name);
  ~Scope() { graph_.set_scope(std::move(outer_)); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Graph& graph_;
  std::string outer_;
};

// The program as text, one node a line, for people and goldens.
std::string to_string(const Graph& graph);

// Checks every node again: operands come first, types are what inference says, regions agree with their node.
// InternalError with the node's line.
void verify(const Graph& graph);

}  // namespace tethys
