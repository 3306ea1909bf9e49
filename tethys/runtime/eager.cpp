#include "runtime/eager.h"

#include <fmt/ranges.h>

#include <set>

#include "base/error.h"
#include "ops/control/scan.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "pjrt/error.h"

namespace tethys {
namespace {

// Zeros have no placement, so they stay what they are; any other number is an argument.
Value generated(CalledGraph& single, Executor& executor, const Node& generator, const TensorType& type) {
  if (generator.op != &splat_op || splat_value(generator.attributes) == 0) {
    return single.graph().append(*generator.op, generator.attributes, {}, {}, {type})[0];
  }
  const double number = splat_value(generator.attributes);
  const HostTensor scalar = HostTensor::from_doubles({type.dtype, {}}, {{number}});
  return broadcast(single.input(to_device(executor.devices(), scalar, replicated(executor.mesh()))), type.dims, {});
}

}  // namespace

std::string describe(const Node& node, const std::vector<int64_t>& iterations) {
  return describe(node, node.scope, iterations);
}

std::string describe(const Node& node, std::string_view module, const std::vector<int64_t>& iterations) {
  std::string text = node.op->name;
  if (!module.empty()) text.append(" of ").append(module);
  if (!iterations.empty()) text += fmt::format(", iteration {}", fmt::join(iterations, "."));
  return text;
}

EagerObserver::EagerObserver(Executor& executor, Graph& graph, EagerOptions options)
    : RunObserver(executor, graph), options_(std::move(options)) {}

const Array& EagerObserver::array(const Value& value) {
  require(value.graph == &graph_, "%{} is of another graph", value.id);
  const Operand found = operand(value.id);
  if (!has_data(value.id)) arrays_[value.id] = data_of(found);
  return arrays_.at(value.id);
}

void EagerObserver::appended(Graph&, NodeId id) {
  again_ = false;
  liveness_.appended(id);
  if (!graph_.node(id).op->generator) run_node(id);
}

EagerObserver::Operand EagerObserver::operand(ValueId value) {
  if (const auto found = arrays_.find(value); found != arrays_.end()) return {found->second, nullptr, {}};
  const Node& producer = graph_.producer(value);
  if (producer.op->generator) return {{}, &producer, graph_.type(value)};
  run_again(value);
  return {arrays_.at(value), nullptr, {}};
}

void EagerObserver::run_node(NodeId id) {
  const Node& node = graph_.node(id);
  iterations_.clear();
  Operands operands;
  try {
    for (ValueId v : node.operands) operands.push_back(operand(v));
  } catch (const InternalError& e) {
    internal_error("{}; in {}", e.what(), describe(node, {}));
  }
  const Arrays results = run(graph_.call(id), node, operands);
  for (size_t i = 0; i < results.size(); ++i) arrays_[node.results[i]] = results[i];
}

void EagerObserver::run_again(ValueId value) {
  liveness_.kept(value);
  const std::set<NodeId> nodes = missing_for({value});
  again_ = true;
  for (NodeId id : nodes) run_node(id);
  again_ = false;
  for (NodeId id : nodes) {
    for (ValueId v : graph_.node(id).results) {
      if (!liveness_.needed(v)) arrays_.erase(v);
    }
  }
}

EagerObserver::Arrays EagerObserver::run(const OpCall& call, const Node& node, const Operands& operands) {
  // What these run says itself which of its ops failed.
  if (options_.unroll && node.op->structure == Structure::Loop) return run_scan(call, operands);
  Arrays results;
  if (options_.unroll && node.op->structure == Structure::Call) {
    for (const Operand& output : run_region(*node.regions[0], operands)) results.push_back(data_of(output));
    return results;
  }
  const std::string where = executor_.tracer() ? describe(node, iterations_) : std::string();
  const Span span(executor_.tracer(), "run", where);
  try {
    results = run_alone(call, operands);
  } catch (const pjrt::PjrtError& e) {
    const std::string text = fmt::format("{}; in {}", e.text(), describe(node, iterations_));
    throw pjrt::PjrtError(e.code(), text, e.function(), e.plugin());
  } catch (const UserError& e) {
    user_error("{}; in {}", e.what(), describe(node, iterations_));
  } catch (const InternalError& e) {
    internal_error("{}; in {}", e.what(), describe(node, iterations_));
  }
  if (options_.inspect && !again_) options_.inspect({node, iterations_, results});
  return results;
}

EagerObserver::Arrays EagerObserver::run_alone(const OpCall& call, const Operands& operands) {
  CalledGraph single(executor_);
  std::vector<Value> values;
  for (const Operand& o : operands) {
    values.push_back(o.generator ? generated(single, executor_, *o.generator, o.type) : single.input(o.array));
  }
  return single.call(single.graph().append(call.op, call.attributes, values, call.regions, call.declared));
}

Array EagerObserver::data_of(const Operand& operand) {
  if (!operand.generator) return operand.array;
  CalledGraph single(executor_);
  return single.call({generated(single, executor_, *operand.generator, operand.type)})[0];
}

EagerObserver::Operands EagerObserver::run_region(const Graph& region, const Operands& inputs) {
  Operands values(static_cast<size_t>(region.value_count()));
  for (size_t i = 0; i < inputs.size(); ++i) values[region.inputs()[i]] = inputs[i];
  for (NodeId id = 0; id < region.node_count(); ++id) {
    const Node& node = region.node(id);
    if (node.op == &input_op) continue;
    if (node.op->generator) {
      values[node.results[0]] = {{}, &node, region.type(node.results[0])};
      continue;
    }
    Operands operands;
    for (ValueId v : node.operands) operands.push_back(values[v]);
    const Arrays results = run(region.call(id), node, operands);
    for (size_t i = 0; i < results.size(); ++i) values[node.results[i]] = {results[i], nullptr, {}};
  }
  Operands outputs;
  for (ValueId v : region.outputs()) outputs.push_back(values[v]);
  return outputs;
}

EagerObserver::Arrays EagerObserver::run_scan(const OpCall& call, const Operands& operands) {
  const ScanAttributes& a = scan_attributes(call.attributes);
  const auto first_carry = operands.begin() + a.consts;
  const auto first_x = first_carry + a.carries;
  Operands carries(first_carry, first_x);
  Arrays xs;
  for (auto x = first_x; x != operands.end(); ++x) xs.push_back(data_of(*x));
  std::vector<Arrays> ys(call.declared.size() - static_cast<size_t>(a.carries), Arrays(static_cast<size_t>(a.length)));
  for (int64_t step = 0; step < a.length; ++step) {
    const int64_t at = a.reverse ? a.length - 1 - step : step;
    Operands inputs(operands.begin(), first_carry);
    inputs.insert(inputs.end(), carries.begin(), carries.end());
    for (const Array& x : xs) inputs.push_back({slice(x, at), nullptr, {}});
    iterations_.push_back(at);
    const Operands outputs = run_region(*call.regions[0], inputs);
    iterations_.pop_back();
    carries.assign(outputs.begin(), outputs.begin() + a.carries);
    for (size_t i = 0; i < ys.size(); ++i) ys[i][at] = data_of(outputs[a.carries + i]);
  }
  Arrays results;
  for (const Operand& carry : carries) results.push_back(data_of(carry));
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
  const Array number =
      to_device(executor_.devices(), HostTensor::scalar(static_cast<int32_t>(index)), replicated(executor_.mesh()));
  Graph single;
  const Value x = single.input(stacked.type(), "stacked", stacked.placement());
  single.set_outputs({slice_at(x, single.input(number.type(), "index", number.placement()))});
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
