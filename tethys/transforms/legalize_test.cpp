#include "transforms/legalize.h"

#include <gtest/gtest.h>

#include "ops/kernel/kernel.h"
#include "ops/registry.h"

namespace tethys {
namespace {

std::vector<TensorType> as_first(const OpCall& call) { return {call.operands[0]}; }

const KernelLowering kInnerLowering{.platform = "cpu", .target = "inner_on_cpu", .version = "1"};

const KernelRecord inner = {
    .name = "inner",
    .infer = as_first,
    .reference = [](Graph&, const Attributes&,
                    const std::vector<Value>& o) { return std::vector<Value>{negate(o[0])}; },
    .lowerings = {kInnerLowering},
};

// Twice the inner kernel, with a tanh between.
const KernelRecord outer = {
    .name = "outer",
    .infer = as_first,
    .reference =
        [](Graph& graph, const Attributes&, const std::vector<Value>& o) {
          const Value once = kernel(inner, graph, {}, {o[0]})[0];
          return kernel(inner, graph, {}, {tanh(once)});
        },
    .lowerings = {},
};

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> names;
  for (NodeId n = 0; n < graph.node_count(); ++n) names.emplace_back(graph.node(n).op->name);
  return names;
}

std::vector<std::string> legalized(const Capabilities& capabilities) {
  Graph graph;
  const Value x = graph.input({DType::F32, {4}}, "x");
  graph.set_outputs(kernel(outer, graph, {}, {x}));
  const std::shared_ptr<Graph> result = legalize(graph, capabilities);
  verify(*result);
  return ops_of(*result);
}

TEST(Legalize, InlinesAKernelWithinTheReferenceOfAnother) {
  EXPECT_EQ(legalized({}), (std::vector<std::string>{"input", "negate", "tanh", "negate"}));
}

TEST(Legalize, CallsTheLoweringOfAKernelWithinTheReferenceOfAnother) {
  EXPECT_EQ(legalized({.platform = "cpu", .kernels = {"inner"}}),
            (std::vector<std::string>{"input", "custom_call", "tanh", "custom_call"}));
}

}  // namespace
}  // namespace tethys
