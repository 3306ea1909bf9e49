// Every op's samples and their gradients, node by node in eager mode and queued in deferred mode against one program in
// graph mode, on one device and sharded over four.
#include <gtest/gtest.h>

#include "runtime/deferred.h"
#include "runtime/eager.h"
#include "runtime/testing.h"
#include "support/op_samples.h"

namespace tethys {
namespace {

using namespace op_samples;

class OpEager : public testing::TestWithParam<SampledOp> {};

// The op's results and, where it has them, gradients.
std::vector<Value> record(Graph& graph, const SampledOp& s, const std::vector<Value>& inputs) {
  std::vector<Value> outputs = apply(graph, s, inputs);
  if (!is_differentiable(s)) return outputs;
  for (const Value& g : floating_gradients(weighted_sum(graph, differentiable_results(s, outputs)), inputs))
    outputs.push_back(g);
  return outputs;
}

// The first dimension that divides is sharded.
Placement sharded(const TensorType& type, const Mesh& mesh) {
  if (mesh.rank() == 0) return {};
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (type.dims[d] > 0 && type.dims[d] % mesh.size() == 0) return {shard(d)};
  }
  return replicated(mesh);
}

void compare(const SampledOp& s, Executor& executor) {
  const Mesh& mesh = executor.mesh();
  std::vector<Placement> placements;
  std::vector<Array> arguments;
  for (const HostTensor& operand : s.sample.operands) {
    placements.push_back(sharded(operand.type(), mesh));
    arguments.push_back(runtime_testing::put(executor, operand, placements.back()));
  }

  Graph graph;
  graph.set_outputs(record(graph, s, inputs_of(graph, s.sample, placements)));
  const std::vector<Array> expected = executor.call(graph, arguments);

  for (const Mode mode : {Mode::Eager, Mode::Deferred}) {
    Graph running;
    std::unique_ptr<RunObserver> observer;
    if (mode == Mode::Eager)
      observer = std::make_unique<EagerObserver>(executor, running);
    else
      observer = std::make_unique<DeferredObserver>(executor, running);
    const std::vector<Value> inputs = inputs_of(running, s.sample, placements);
    for (size_t i = 0; i < inputs.size(); ++i) observer->bind_input(inputs[i], arguments[i]);
    const std::vector<Value> outputs = record(running, s, inputs);
    ASSERT_EQ(outputs.size(), expected.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool single = outputs[i].dtype() == DType::F32;
      expect_close(observer->read(outputs[i]), to_host(expected[i]), single ? 1e-6 : 1e-13,
                   fmt::format("output {} in mode {} on mesh {}", i, name_of(mode), to_string(mesh)));
    }
  }
}

TEST_P(OpEager, GivesWhatOneProgramGives) {
  compare(GetParam(), runtime_testing::shared_executor(1));
  compare(GetParam(), runtime_testing::shared_executor(4));
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpEager, testing::ValuesIn(all_samples()), test_name);

}  // namespace
}  // namespace tethys
