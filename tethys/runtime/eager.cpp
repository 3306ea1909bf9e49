#include "runtime/eager.h"

#include "base/error.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "pjrt/error.h"

namespace tethys {
namespace {

std::string where(const Node& node) {
  return node.scope.empty() ? fmt::format("in {}", node.op->name)
                            : fmt::format("in {} of {}", node.op->name, node.scope);
}

}  // namespace

EagerObserver::EagerObserver(Executor& executor, Graph& graph) : executor_(executor), graph_(graph) {
  graph_.set_observer(this);
}

EagerObserver::~EagerObserver() { graph_.set_observer(nullptr); }

void EagerObserver::bind_input(const Value& value, Array array) {
  require(value.graph == &graph_ && graph_.producer(value.id).op == &input_op, "data for %{}, which is no input",
          value.id);
  require(array.type() == value.type(), "data of type {} for an input of type {}", to_string(array.type()),
          to_string(value.type()));
  arrays_[value.id] = std::move(array);
}

const Array& EagerObserver::array(const Value& value) const {
  const auto found = arrays_.find(value.id);
  require(value.graph == &graph_ && found != arrays_.end(),
          "%{} has no data: it is an input that is not bound, was released, or is of another graph", value.id);
  return found->second;
}

HostTensor EagerObserver::read(const Value& value) { return to_host(array(value)); }

void EagerObserver::release(const Value& value) { arrays_.erase(value.id); }

void EagerObserver::appended(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::vector<Array> results;
  try {
    results = run(graph, id);
  } catch (const pjrt::PjrtError& e) {
    throw pjrt::PjrtError(e.code(), fmt::format("{}; {}", e.text(), where(node)), e.function(), e.plugin());
  } catch (const UserError& e) {
    user_error("{}; {}", e.what(), where(node));
  } catch (const InternalError& e) {
    internal_error("{}; {}", e.what(), where(node));
  }
  for (size_t i = 0; i < results.size(); ++i) arrays_[node.results[i]] = results[i];
  if (inspector_) inspector_(graph, id, results);
}

std::vector<Array> EagerObserver::run(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op == &splat_op) return fill(node, graph.type(node.results[0]));
  // The same value twice is one input, so that its buffer is one argument.
  Graph single;
  std::map<ValueId, Value> inputs;
  std::vector<Array> arguments;
  std::vector<Value> operands;
  for (ValueId operand : node.operands) {
    const auto [input, fresh] = inputs.try_emplace(operand);
    if (fresh) {
      arguments.push_back(array({&graph, operand}));
      input->second = single.input(graph.type(operand), fmt::format("%{}", operand), arguments.back().placement());
    }
    operands.push_back(input->second);
  }
  single.set_outputs(single.append(*node.op, node.attributes, operands, node.regions, graph.call(id).declared));
  return executor_.call(single, std::move(arguments));
}

std::vector<Array> EagerObserver::fill(const Node& node, const TensorType& type) {
  const TensorType scalar{type.dtype, {}};
  const double number = splat_value(node.attributes);
  const Placement everywhere = replicated(executor_.mesh());
  const Array value = to_device(executor_.devices(), HostTensor::from_doubles(scalar, {{number}}), everywhere);
  if (type.rank() == 0) return {value};
  Graph single;
  single.set_outputs({broadcast(single.input(scalar, "value", everywhere), type.dims, {})});
  return executor_.call(single, {value});
}

}  // namespace tethys
