#include "runtime/eager.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "ops/control/scan.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "pjrt/error.h"

namespace tethys {

std::string describe(const Node& node, const std::vector<int64_t>& iterations) {
  std::string text = node.op->name;
  if (!node.scope.empty()) text += " of " + node.scope;
  if (!iterations.empty()) text += fmt::format(", iteration {}", fmt::join(iterations, "."));
  return text;
}

EagerObserver::EagerObserver(Executor& executor, Graph& graph, EagerOptions options)
    : executor_(executor), graph_(graph), options_(std::move(options)) {
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
  iterations_.clear();
  Arrays operands;
  try {
    for (ValueId v : node.operands) operands.push_back(array({&graph, v}));
  } catch (const InternalError& e) {
    internal_error("{}; in {}", e.what(), describe(node, {}));
  }
  const Arrays results = run(graph.call(id), node, operands);
  for (size_t i = 0; i < results.size(); ++i) arrays_[node.results[i]] = results[i];
}

EagerObserver::Arrays EagerObserver::run(const OpCall& call, const Node& node, const Arrays& operands) {
  // What these run says itself which of its ops failed.
  if (options_.unroll && node.op->structure == Structure::Loop) return run_scan(call, operands);
  if (options_.unroll && node.op->structure == Structure::Call) return run_region(*node.regions[0], operands);
  Arrays results;
  try {
    results = node.op == &splat_op ? Arrays{fill(call)} : run_alone(call, operands);
  } catch (const pjrt::PjrtError& e) {
    const std::string text = fmt::format("{}; in {}", e.text(), describe(node, iterations_));
    throw pjrt::PjrtError(e.code(), text, e.function(), e.plugin());
  } catch (const UserError& e) {
    user_error("{}; in {}", e.what(), describe(node, iterations_));
  } catch (const InternalError& e) {
    internal_error("{}; in {}", e.what(), describe(node, iterations_));
  }
  if (options_.inspect) options_.inspect({node, iterations_, results});
  return results;
}

EagerObserver::Arrays EagerObserver::run_alone(const OpCall& call, const Arrays& operands) {
  // Operands that are the same array are one input: a program may not be handed a buffer twice on every plugin.
  Graph single;
  Arrays arguments;
  std::vector<Value> inputs;
  std::vector<Value> values;
  for (const Array& operand : operands) {
    size_t i = 0;
    while (i < arguments.size() && !arguments[i].same(operand)) ++i;
    if (i == arguments.size()) {
      arguments.push_back(operand);
      inputs.push_back(single.input(operand.type(), fmt::format("x{}", i), operand.placement()));
    }
    values.push_back(inputs[i]);
  }
  single.set_outputs(single.append(call.op, call.attributes, values, call.regions, call.declared));
  return executor_.call(single, std::move(arguments));
}

Array EagerObserver::fill(const OpCall& call) {
  const TensorType& type = call.declared[0];
  const TensorType scalar{type.dtype, {}};
  const double number = splat_value(call.attributes);
  const Placement everywhere = replicated(executor_.mesh());
  const Array value = to_device(executor_.devices(), HostTensor::from_doubles(scalar, {{number}}), everywhere);
  if (type.rank() == 0) return value;
  Graph single;
  single.set_outputs({broadcast(single.input(scalar, "value", everywhere), type.dims, {})});
  return executor_.call(single, {value})[0];
}

EagerObserver::Arrays EagerObserver::run_region(const Graph& region, const Arrays& inputs) {
  std::vector<Array> values(static_cast<size_t>(region.value_count()));
  for (size_t i = 0; i < inputs.size(); ++i) values[region.inputs()[i]] = inputs[i];
  for (NodeId id = 0; id < region.node_count(); ++id) {
    const Node& node = region.node(id);
    if (node.op == &input_op) continue;
    Arrays operands;
    for (ValueId v : node.operands) operands.push_back(values[v]);
    const Arrays results = run(region.call(id), node, operands);
    for (size_t i = 0; i < results.size(); ++i) values[node.results[i]] = results[i];
  }
  Arrays outputs;
  for (ValueId v : region.outputs()) outputs.push_back(values[v]);
  return outputs;
}

EagerObserver::Arrays EagerObserver::run_scan(const OpCall& call, const Arrays& operands) {
  const ScanAttributes& a = scan_attributes(call.attributes);
  const auto first_carry = operands.begin() + a.consts;
  const auto first_x = first_carry + a.carries;
  Arrays carries(first_carry, first_x);
  std::vector<Arrays> ys(call.declared.size() - static_cast<size_t>(a.carries), Arrays(static_cast<size_t>(a.length)));
  for (int64_t step = 0; step < a.length; ++step) {
    const int64_t at = a.reverse ? a.length - 1 - step : step;
    Arrays inputs(operands.begin(), first_carry);
    inputs.insert(inputs.end(), carries.begin(), carries.end());
    for (auto x = first_x; x != operands.end(); ++x) inputs.push_back(slice(*x, at));
    iterations_.push_back(at);
    const Arrays outputs = run_region(*call.regions[0], inputs);
    iterations_.pop_back();
    carries.assign(outputs.begin(), outputs.begin() + a.carries);
    for (size_t i = 0; i < ys.size(); ++i) ys[i][at] = outputs[a.carries + i];
  }
  Arrays results = carries;
  for (size_t i = 0; i < ys.size(); ++i) {
    if (a.length > 0) {
      results.push_back(stack(ys[i]));
    } else {
      results.push_back(to_device(executor_.devices(), HostTensor(call.declared[a.carries + i]),
                                  replicated(executor_.mesh()), {.kind = ArrayKind::Result}));
    }
  }
  return results;
}

Array EagerObserver::slice(const Array& stacked, int64_t index) {
  const TensorType at{DType::S32, {}};
  const Array number =
      to_device(executor_.devices(), HostTensor::scalar(static_cast<int32_t>(index)), replicated(executor_.mesh()));
  Graph single;
  const Value x = single.input(stacked.type(), "stacked", stacked.placement());
  std::vector<Value> starts = {single.input(at, "index", number.placement())};
  for (int64_t d = 1; d < x.rank(); ++d) starts.push_back(splat(single, at, 0));
  Dims window = x.dims();
  window[0] = 1;
  single.set_outputs({reshape(dynamic_slice(x, starts, window), slice_type(x.type()).dims)});
  return executor_.call(single, {stacked, number})[0];
}

Array EagerObserver::stack(const Arrays& slices) {
  Graph single;
  std::vector<Value> rows;
  for (const Array& one : slices) {
    const Value x = single.input(one.type(), fmt::format("x{}", rows.size()), one.placement());
    Dims row = x.dims();
    row.insert(row.begin(), 1);
    rows.push_back(reshape(x, row));
  }
  single.set_outputs({concatenate(rows, 0)});
  return executor_.call(single, slices)[0];
}

}  // namespace tethys
