#include "transforms/legalize.h"

#include <string_view>

#include "ir/clone.h"
#include "ops/kernel/kernel.h"
#include "ops/registry.h"

namespace tethys {
namespace {

const KernelLowering* find_lowering(const KernelRecord& record, const OpCall& call, const Capabilities& capabilities) {
  if (!capabilities.kernels.contains(record.name)) return nullptr;
  for (const KernelLowering& lowering : record.lowerings) {
    if (lowering.platform != capabilities.platform) continue;
    if (lowering.supports == nullptr || lowering.supports(call)) return &lowering;
  }
  return nullptr;
}

std::string config_text(const KernelLowering& lowering, const OpCall& call) {
  std::string text;
  if (lowering.backend_config == nullptr) return text;
  for (const stablehlo::Attribute& a : lowering.backend_config(call)) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", a.name, a.text);
  }
  return text;
}

void legalize_into(const Graph& source, Graph& target, ValueMap& map, const Capabilities& capabilities);

// A reference's composition, in which there may be further kernels.
std::vector<Value> inlined(Graph& graph, const KernelRecord& record, const Attributes& attributes,
                           const std::vector<Value>& operands, const Capabilities& capabilities) {
  Graph composition;
  composition.set_scope(graph.scope());
  std::vector<Value> inputs;
  for (const Value& v : operands) inputs.push_back(composition.input(v.type(), fmt::format("x{}", inputs.size())));
  std::vector<Value> results = record.reference(composition, attributes, inputs);
  ValueMap map(composition.value_count());
  for (size_t i = 0; i < inputs.size(); ++i) map[inputs[i].id] = operands[i];
  legalize_into(composition, graph, map, capabilities);
  for (Value& result : results) result = map[result.id];
  return results;
}

// What stands in a kernel node's place.
std::vector<Value> replacement(Graph& graph, const OpCall& node_call, const std::vector<Value>& operands,
                               const Capabilities& capabilities) {
  const KernelRecord& record = kernel_record(node_call.attributes);
  const OpCall call = kernel_call(node_call);
  const KernelLowering* lowering = find_lowering(record, call, capabilities);
  if (lowering == nullptr) return inlined(graph, record, call.attributes, operands, capabilities);
  return custom_call(graph, {lowering->target, lowering->version}, config_text(*lowering, call), operands,
                     call.declared);
}

// A copy of a region with the same inputs and outputs, legalized.
std::shared_ptr<Graph> legalize_graph(const Graph& source, const Capabilities& capabilities) {
  auto target = std::make_shared<Graph>();
  ValueMap map(source.value_count());
  for (size_t i = 0; i < source.inputs().size(); ++i) {
    const ValueInfo& info = source.info(source.inputs()[i]);
    map[source.inputs()[i]] = target->input(info.type, source.input_name(i), info.placement);
  }
  legalize_into(source, *target, map, capabilities);
  std::vector<Value> outputs;
  for (ValueId v : source.outputs()) outputs.push_back(map[v]);
  target->set_outputs(outputs);
  return target;
}

void legalize_into(const Graph& source, Graph& target, ValueMap& map, const Capabilities& capabilities) {
  for (NodeId n = 0; n < source.node_count(); ++n) {
    const Node& node = source.node(n);
    if (node.op == &input_op) continue;
    std::vector<Value> operands;
    for (ValueId v : node.operands) operands.push_back(map[v]);
    target.set_scope(node.scope);
    Regions regions;
    for (const auto& region : node.regions) regions.push_back(legalize_graph(*region, capabilities));
    const OpCall call = source.call(n);
    const std::vector<Value> results = node.op == &kernel_op
                                           ? replacement(target, call, operands, capabilities)
                                           : target.append(*node.op, node.attributes, operands, regions, call.declared);
    require(results.size() == node.results.size(), "{} became {} values of {}", node.op->name, results.size(),
            node.results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      require(results[i].type() == source.type(node.results[i]), "{}: result {} is {}, its inference says {}",
              node.op == &kernel_op ? kernel_record(node.attributes).name : node.op->name, i,
              to_string(results[i].type()), to_string(source.type(node.results[i])));
      map[node.results[i]] = results[i];
    }
  }
}

}  // namespace

std::shared_ptr<Graph> legalize(const Graph& local, const Capabilities& capabilities) {
  return legalize_graph(local, capabilities);
}

}  // namespace tethys
