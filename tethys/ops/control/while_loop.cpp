#include "ops/control/while_loop.h"

#include "ops/elementwise/compare.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require(call.regions.size() == 2, "while_loop has {} regions", call.regions.size());
  for (const auto& region : call.regions) {
    require(region->inputs().size() == call.operands.size(), "a region takes {} values, the state has {}",
            region->inputs().size(), call.operands.size());
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const TensorType& taken = region->type(region->inputs()[i]);
      require(taken == call.operands[i], "state {} is {}, a region takes {}", i, to_string(call.operands[i]),
              to_string(taken));
    }
  }
  const Graph& condition = *call.regions[0];
  require(condition.outputs().size() == 1 && condition.type(condition.outputs()[0]) == TensorType{DType::Bool, {}},
          "the condition returns one bool scalar");
  const Graph& body = *call.regions[1];
  require(body.outputs().size() == call.operands.size(), "the body returns {} values for a state of {}",
          body.outputs().size(), call.operands.size());
  for (size_t i = 0; i < call.operands.size(); ++i) {
    require(body.type(body.outputs()[i]) == call.operands[i], "state {} is {} and comes back as {}", i,
            to_string(call.operands[i]), to_string(body.type(body.outputs()[i])));
  }
  return call.operands;
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  std::vector<stablehlo::Region> regions;
  for (const auto& graph : c.call.regions) {
    regions.push_back({c.call.operands, [&c, graph](stablehlo::Writer& w, const std::vector<stablehlo::Ssa>& state) {
                         return c.emit_region(w, *graph, state);
                       }});
  }
  return c.writer.op("stablehlo.while", c.operands, c.results, {}, regions);
}

// The state is whole on every device: a condition must not differ between them.
Factors factors(const OpCall& call) { return pairwise_factors(call.operands, FactorKind::Replicate, Linearity::No); }

std::shared_ptr<Graph> region_of(const std::vector<TensorType>& types, const LoopBody& body) {
  auto region = std::make_shared<Graph>();
  std::vector<Value> state;
  for (const TensorType& t : types) state.push_back(region->input(t, fmt::format("state{}", state.size())));
  region->set_outputs(body(*region, state));
  return region;
}

// Counts to five, doubling a vector each time.
Regions sample_regions(const std::vector<TensorType>& types) {
  return {region_of(types,
                    [](Graph& g, const std::vector<Value>& s) {
                      return std::vector<Value>{less(s[0], splat(g, s[0].type(), 5))};
                    }),
          region_of(types, [](Graph& g, const std::vector<Value>& s) {
            return std::vector<Value>{add(s[0], splat(g, s[0].type(), 1)), add(s[1], s[1])};
          })};
}

std::vector<Sample> samples() {
  return {{.name = "doubling",
           .operands = {HostTensor::scalar<int32_t>(0), sample_tensor({8}, 1)},
           .attributes = {},
           .declared = {},
           .regions = sample_regions}};
}

}  // namespace

const OpRecord while_loop_op = {
    .name = "while_loop",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Missing,
    .factors = factors,
    .samples = samples,
};

std::vector<Value> while_loop(const std::vector<Value>& state, const LoopBody& condition, const LoopBody& body) {
  std::vector<TensorType> types;
  for (const Value& v : state) types.push_back(v.type());
  return state[0].graph->append(while_loop_op, {}, state, {region_of(types, condition), region_of(types, body)});
}

}  // namespace tethys
