#include "transforms/lower.h"

#include <algorithm>

#include "ops/kernel/kernel.h"
#include "ops/registry.h"
#include "transforms/dead_code.h"
#include "transforms/localise.h"
#include "transforms/propagate.h"

namespace tethys {
namespace {

using stablehlo::Ssa;
using stablehlo::Writer;

struct Emitter {
  const Mesh& mesh;
  stablehlo::Spmd spmd;

  std::vector<Ssa> emit(Writer& writer, const Graph& graph, const std::vector<Ssa>& inputs) const {
    std::vector<Ssa> values(graph.value_count());
    for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = inputs[i];
    for (NodeId n = 0; n < graph.node_count(); ++n) {
      if (graph.node(n).op != &input_op) emit_node(writer, graph, n, values);
    }
    std::vector<Ssa> outputs;
    for (ValueId v : graph.outputs()) outputs.push_back(values[v]);
    return outputs;
  }

  void emit_node(Writer& writer, const Graph& graph, NodeId n, std::vector<Ssa>& values) const {
    const Node& node = graph.node(n);
    require(node.op->emit != nullptr, "{} reached lowering; it belongs to an earlier pass", node.op->name);
    const OpCall call = graph.call(n);
    EmitContext context{
        writer,
        call,
        {},
        call.declared,
        mesh,
        spmd,
        [this](Writer& w, const Graph& region, const std::vector<Ssa>& in) { return emit(w, region, in); }};
    for (ValueId v : node.operands) context.operands.push_back(values[v]);
    const std::vector<Ssa> results = node.op->emit(context);
    require(results.size() == node.results.size(), "{} emitted {} results of {}", node.op->name, results.size(),
            node.results.size());
    for (size_t i = 0; i < results.size(); ++i) values[node.results[i]] = results[i];
  }
};

void collect_custom_calls(const Graph& graph, std::vector<std::string>& targets) {
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (node.op == &custom_call_op) targets.push_back(custom_call_target(node.attributes));
    for (const auto& region : node.regions) collect_custom_calls(*region, targets);
  }
}

// The port of a value: its global type is that of the placed graph, which local types do not tell.
Port port(const Graph& placed, ValueId value, std::string name, const Mesh& mesh) {
  const ValueInfo& info = placed.info(value);
  return {std::move(name), info.type, info.placement.value_or(replicated(mesh))};
}

}  // namespace

std::string lower(const Graph& local, const Mesh& mesh, const std::vector<int64_t>& aliases, stablehlo::Spmd spmd) {
  std::vector<stablehlo::Argument> arguments;
  for (size_t i = 0; i < local.inputs().size(); ++i) {
    arguments.push_back({local.type(local.inputs()[i]), aliases.empty() ? -1 : aliases[i]});
  }
  const Emitter emitter{mesh, spmd};
  return stablehlo::write_module(
      {.name = "program", .devices = mesh.size(), .spmd = spmd}, arguments,
      [&](Writer& writer, const std::vector<Ssa>& inputs) { return emitter.emit(writer, local, inputs); });
}

Program make_program(const Graph& recorded, const Mesh& mesh, const Capabilities& capabilities,
                     const std::vector<int64_t>& aliases) {
  std::vector<std::string> notes;
  const auto placed = propagate(*without_dead_code(recorded), mesh, &notes);
  const auto local = without_dead_code(*legalize(*localise(*placed, mesh), capabilities));
  Program program{.text = lower(*local, mesh, aliases),
                  .mesh = mesh,
                  .inputs = {},
                  .outputs = {},
                  .aliases = aliases,
                  .custom_calls = {},
                  .notes = std::move(notes)};
  for (size_t i = 0; i < placed->inputs().size(); ++i) {
    program.inputs.push_back(port(*placed, placed->inputs()[i], placed->input_name(i), mesh));
  }
  for (ValueId v : placed->outputs()) program.outputs.push_back(port(*placed, v, "", mesh));
  collect_custom_calls(*local, program.custom_calls);
  std::sort(program.custom_calls.begin(), program.custom_calls.end());
  program.custom_calls.erase(std::unique(program.custom_calls.begin(), program.custom_calls.end()),
                             program.custom_calls.end());
  return program;
}

}  // namespace tethys
