#include "ir/graph.h"

#include <fmt/ranges.h>

namespace tethys {
namespace {

std::string where(const std::string& scope) { return scope.empty() ? "" : "; in " + scope; }

}  // namespace

// Inputs are made by Graph::input, so nothing of the record is ever asked for but its name.
const OpRecord input_op = {.name = "input"};

const TensorType& Value::type() const { return graph->type(id); }

Value Graph::input(TensorType type, std::string name, std::optional<Placement> placement) {
  const ValueId id = value_count();
  nodes_.push_back({.op = &input_op, .attributes = {}, .operands = {}, .results = {id}, .regions = {}, .scope = {}});
  values_.push_back({.node = node_count() - 1,
                     .result = 0,
                     .type = std::move(type),
                     .tag = {},
                     .placement = std::move(placement),
                     .handles = 0});
  inputs_.push_back(id);
  input_names_.push_back(std::move(name));
  return {this, id};
}

std::vector<Value> Graph::append(const OpRecord& op, Attributes attributes, const std::vector<Value>& operands,
                                 Regions regions, std::vector<TensorType> declared) {
  Node node{.op = &op,
            .attributes = std::move(attributes),
            .operands = {},
            .results = {},
            .regions = std::move(regions),
            .scope = scope_};
  OpCall call{op, node.attributes, {}, node.regions, std::move(declared)};
  for (const Value& v : operands) {
    require(v.graph == this, "{}: an operand belongs to another graph; captures of a region are passed as operands{}",
            op.name, where(scope_));
    node.operands.push_back(v.id);
    call.operands.push_back(v.type());
  }
  std::vector<TensorType> types;
  try {
    types = op.infer(call);
  } catch (const InternalError& e) {
    internal_error("{}: {}{}", op.name, e.what(), where(scope_));
  }
  const NodeId id = node_count();
  std::vector<Value> results;
  for (TensorType& type : types) {
    node.results.push_back(value_count());
    results.push_back({this, value_count()});
    values_.push_back({.node = id,
                       .result = static_cast<int32_t>(results.size()) - 1,
                       .type = std::move(type),
                       .tag = {},
                       .placement = std::nullopt,
                       .handles = 0});
  }
  nodes_.push_back(std::move(node));
  if (observer_) observer_->appended(*this, id);
  return results;
}

void Graph::set_outputs(const std::vector<Value>& outputs) {
  outputs_.clear();
  for (const Value& v : outputs) {
    require(v.graph == this, "an output belongs to another graph");
    outputs_.push_back(v.id);
  }
}

void Graph::extend(NodeId id, Attributes attributes, Regions regions, const std::vector<TensorType>& further) {
  Node& node = nodes_[id];
  node.attributes = std::move(attributes);
  node.regions = std::move(regions);
  for (const TensorType& type : further) {
    const auto index = static_cast<int32_t>(node.results.size());
    node.results.push_back(value_count());
    values_.push_back({.node = id, .result = index, .type = type, .tag = {}, .placement = std::nullopt, .handles = 0});
  }
  if (observer_) observer_->appended(*this, id);
}

void Graph::set_tag(const Value& value, std::string tag) { values_[value.id].tag = std::move(tag); }

void Graph::set_placement(ValueId value, Placement placement) { values_[value].placement = std::move(placement); }

std::optional<Value> Graph::bound(const void* key) {
  const auto found = bindings_.find(key);
  if (found == bindings_.end()) return std::nullopt;
  return Value{this, found->second};
}

OpCall Graph::call(NodeId id) const {
  const Node& node = nodes_[id];
  OpCall call{*node.op, node.attributes, {}, node.regions, {}};
  for (ValueId v : node.operands) call.operands.push_back(type(v));
  for (ValueId v : node.results) call.declared.push_back(type(v));
  return call;
}

void Graph::drop_handle(ValueId id) {
  if (--values_[id].handles == 0 && observer_) observer_->dropped({this, id});
}

Scope::Scope(Graph& graph, std::string_view name) : graph_(graph), outer_(graph.scope()) {
  graph.set_scope(outer_.empty() ? std::string(name) : fmt::format("{}.{}", outer_, name));
}

}  // namespace tethys
