#include "runtime/run_observer.h"

#include <fmt/core.h>

#include "base/error.h"
#include "ops/registry.h"

namespace tethys {

RunObserver::RunObserver(Executor& executor, Graph& graph) : executor_(executor), graph_(graph), liveness_(graph) {
  graph_.set_observer(this);
}

RunObserver::~RunObserver() { graph_.set_observer(nullptr); }

void RunObserver::bind_input(const Value& value, Array array) {
  require(value.graph == &graph_ && graph_.producer(value.id).op == &input_op, "data for %{}, which is no input",
          value.id);
  require(array.type() == value.type(), "data of type {} for an input of type {}", to_string(array.type()),
          to_string(value.type()));
  arrays_[value.id] = std::move(array);
}

HostTensor RunObserver::read(const Value& value) { return to_host(array(value)); }

void RunObserver::dropped(const Value& value) {
  for (ValueId v : liveness_.dropped(value.id)) arrays_.erase(v);
}

std::set<NodeId> RunObserver::missing_for(std::vector<ValueId> values) const {
  std::set<NodeId> nodes;
  while (!values.empty()) {
    const ValueId v = values.back();
    values.pop_back();
    const Node& producer = graph_.producer(v);
    if (has_data(v) || producer.op->generator) continue;
    require(producer.op != &input_op, "%{} has no data: it is an input that is not bound", v);
    if (nodes.insert(graph_.info(v).node).second)
      values.insert(values.end(), producer.operands.begin(), producer.operands.end());
  }
  return nodes;
}

Value CalledGraph::input(const Array& array) {
  size_t i = 0;
  while (i < arguments_.size() && !arguments_[i].same(array)) ++i;
  if (i == arguments_.size()) {
    arguments_.push_back(array);
    inputs_.push_back(graph_.input(array.type(), fmt::format("x{}", i), array.placement()));
  }
  return inputs_[i];
}

std::vector<Array> CalledGraph::call(const std::vector<Value>& outputs) {
  graph_.set_outputs(outputs);
  return executor_.call(graph_, std::move(arguments_));
}

}  // namespace tethys
