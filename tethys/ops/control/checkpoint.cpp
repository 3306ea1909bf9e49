#include "ops/control/checkpoint.h"

#include "ops/registry.h"
#include "ops/samples.h"

namespace tethys {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require(call.regions.size() == 1, "checkpoint has {} regions", call.regions.size());
  const Graph& region = *call.regions[0];
  require(region.inputs().size() == call.operands.size(), "the region takes {} values, there are {} operands",
          region.inputs().size(), call.operands.size());
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const TensorType& taken = region.type(region.inputs()[i]);
    require(taken == call.operands[i], "operand {} is {}, the region takes {}", i, to_string(call.operands[i]),
            to_string(taken));
  }
  std::vector<TensorType> results;
  for (ValueId v : region.outputs()) results.push_back(region.type(v));
  return results;
}

Regions sample_region(const std::vector<TensorType>& operands) {
  auto region = std::make_shared<Graph>();
  const Value x = region->input(operands[0], "x");
  const Value y = region->input(operands[1], "y");
  region->set_outputs({multiply(tanh(x), y)});
  return {region};
}

std::vector<Sample> samples() {
  return {{.name = "product",
           .operands = {sample_tensor({4, 8}, 1), sample_tensor({4, 8}, 2)},
           .attributes = {},
           .declared = {},
           .regions = sample_region}};
}

}  // namespace

const OpRecord checkpoint_op = {
    .name = "checkpoint",
    .infer = infer,
    .emit = [](EmitContext& c) { return c.emit_region(c.writer, *c.call.regions[0], c.operands); },
    .gradient = Gradient::Region,
    .samples = samples,
    .structure = Structure::Call,
};

std::vector<Value> checkpoint(Graph& graph, const std::vector<Value>& operands, std::shared_ptr<Graph> region) {
  return graph.append(checkpoint_op, {}, operands, {std::move(region)});
}

std::vector<Value> checkpoint(Graph& graph, const std::vector<Value>& operands, const CheckpointBody& body) {
  auto region = std::make_shared<Graph>();
  region->set_scope(graph.scope());
  std::vector<Value> in;
  for (const Value& v : operands) in.push_back(region->input(v.type(), fmt::format("in{}", in.size())));
  region->set_outputs(body(*region, in));
  return checkpoint(graph, operands, std::move(region));
}

}  // namespace tethys
