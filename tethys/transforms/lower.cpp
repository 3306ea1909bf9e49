#include "transforms/lower.h"

#include <fmt/ranges.h>

#include <map>

#include "ops/registry.h"
#include "transforms/combine_gathers.h"
#include "transforms/dead_code.h"
#include "transforms/localise.h"
#include "transforms/propagate.h"
#include "transforms/rotate.h"

namespace tethys {
namespace {

using stablehlo::Ssa;
using stablehlo::Writer;

struct Emitter {
  const Mesh& mesh;
  stablehlo::Spmd spmd;
  Locations locations;

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
    if (locations == Locations::Modules) writer.set_location(node.scope);
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
    writer.set_location("");
    require(results.size() == node.results.size(), "{} emitted {} results of {}", node.op->name, results.size(),
            node.results.size());
    for (size_t i = 0; i < results.size(); ++i) values[node.results[i]] = results[i];
  }
};

// How often each piece of foreign code is called.
using Calls = std::map<Callee, int>;

void count_calls(const Graph& graph, Calls& calls) {
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (node.op == &custom_call_op) ++calls[custom_call_callee(node.attributes)];
    for (const auto& region : node.regions) count_calls(*region, calls);
  }
}

std::string waits_of(const std::vector<CollectiveUse>& uses, const Calls& calls) {
  std::map<std::string, int64_t> sites;
  for (const CollectiveUse& use : uses) sites[use.kind] += use.sites;
  std::vector<std::string> collectives, handlers;
  for (const auto& [name, count] : sites) collectives.push_back(fmt::format("{} ×{}", name, count));
  for (const auto& [callee, count] : calls) handlers.push_back(fmt::format("{} ×{}", callee.target, count));
  std::string text = fmt::format("{}", fmt::join(collectives, ", "));
  if (!handlers.empty()) text += fmt::format("{}handlers {}", text.empty() ? "" : "; ", fmt::join(handlers, ", "));
  return text;
}

// The port of a value: its global type is that of the placed graph, which local types do not tell.
Port port(const Graph& placed, ValueId value, std::string name, const Mesh& mesh) {
  const ValueInfo& info = placed.info(value);
  return {std::move(name), info.type, info.placement.value_or(replicated(mesh))};
}

}  // namespace

std::string lower(const Graph& local, const Mesh& mesh, const std::vector<int64_t>& aliases, stablehlo::Spmd spmd,
                  Locations locations) {
  std::vector<stablehlo::Argument> arguments;
  for (size_t i = 0; i < local.inputs().size(); ++i) {
    arguments.push_back({local.type(local.inputs()[i]), aliases.empty() ? -1 : aliases[i]});
  }
  const Emitter emitter{mesh, spmd, locations};
  return stablehlo::write_module(
      {.name = "program", .devices = mesh.size(), .spmd = spmd}, arguments,
      [&](Writer& writer, const std::vector<Ssa>& inputs) { return emitter.emit(writer, local, inputs); });
}

Localised localised(const Graph& recorded, const Mesh& mesh, const GatherOptions& gathers) {
  Localised graphs;
  graphs.placed = propagate(*without_dead_code(recorded), mesh, &graphs.notes);
  graphs.local = localise(*graphs.placed, mesh);
  if (gathers.by_block) graphs.local = combine_gathers(*graphs.local, mesh);
  if (gathers.ahead) graphs.local = rotate(*graphs.local);
  return graphs;
}

Program make_program(const Graph& recorded, const Mesh& mesh, const Capabilities& capabilities,
                     const std::vector<int64_t>& aliases, const GatherOptions& gathers) {
  return make_program(localised(recorded, mesh, gathers), mesh, capabilities, aliases);
}

Program make_program(const Localised& graphs, const Mesh& mesh, const Capabilities& capabilities,
                     const std::vector<int64_t>& aliases, Locations locations) {
  const Graph& placed = *graphs.placed;
  const auto local = without_dead_code(*legalize(*graphs.local, capabilities));
  verify(*local);
  Calls calls;
  count_calls(*local, calls);
  Program program{.text = lower(*local, mesh, aliases, stablehlo::Spmd::Partitions, locations),
                  .mesh = mesh,
                  .inputs = {},
                  .outputs = {},
                  .aliases = aliases,
                  .callees = {},
                  .collectives = collectives_of(*local, mesh),
                  .notes = graphs.notes,
                  .waits = ""};
  program.waits = waits_of(program.collectives, calls);
  for (size_t i = 0; i < placed.inputs().size(); ++i) {
    program.inputs.push_back(port(placed, placed.inputs()[i], placed.input_name(i), mesh));
  }
  for (ValueId v : placed.outputs()) program.outputs.push_back(port(placed, v, "", mesh));
  for (const auto& [callee, count] : calls) program.callees.push_back(callee);
  return program;
}

}  // namespace tethys
