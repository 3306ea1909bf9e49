#include "transforms/legalize.h"

#include <string_view>

#include "ir/clone.h"
#include "ops/control/to_memory.h"
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

void legalize_node(const Graph& source, NodeId n, Graph& target, ValueMap& map, const Capabilities& capabilities);

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
  for (NodeId n = 0; n < composition.node_count(); ++n) {
    if (composition.node(n).op != &input_op) legalize_node(composition, n, graph, map, capabilities);
  }
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

void legalize_node(const Graph& source, NodeId n, Graph& target, ValueMap& map, const Capabilities& capabilities) {
  const Node& node = source.node(n);
  if (node.op == &to_memory_op && !capabilities.host_memory) {
    map[node.results[0]] = map[node.operands[0]];
    return;
  }
  if (node.op != &kernel_op) {
    Regions regions;
    for (const auto& region : node.regions) regions.push_back(legalize(*region, capabilities));
    clone_node(source, n, target, map, std::move(regions));
    return;
  }
  std::vector<Value> operands;
  for (ValueId v : node.operands) operands.push_back(map[v]);
  target.set_scope(node.scope);
  const std::vector<Value> results = replacement(target, source.call(n), operands, capabilities);
  const char* name = kernel_record(node.attributes).name;
  require(results.size() == node.results.size(), "{} became {} values of {}", name, results.size(),
          node.results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    require(results[i].type() == source.type(node.results[i]), "{}: result {} is {}, its inference says {}", name, i,
            to_string(results[i].type()), to_string(source.type(node.results[i])));
    map[node.results[i]] = results[i];
  }
}

}  // namespace

std::shared_ptr<Graph> legalize(const Graph& local, const Capabilities& capabilities) {
  return rewritten(local,
                   [&](NodeId n, Graph& target, ValueMap& map) { legalize_node(local, n, target, map, capabilities); });
}

}  // namespace tethys
