#include "nn/layers.h"

#include "ops/control/checkpoint.h"
#include "ops/control/scan.h"

namespace tethys {
namespace {

// What stands for the block's parameters in the graph.
std::vector<Value> bound_values(Module& block, Graph& graph) {
  std::vector<Value> values;
  block.for_each_parameter([&](Parameter& parameter) {
    const std::optional<Value> value = graph.bound(&parameter);
    require(value.has_value(), "no value stands for parameter {} in this graph", parameter.name());
    values.push_back(*value);
  });
  return values;
}

void bind_in(Graph& region, Module& block, std::span<const Value> values) {
  size_t i = 0;
  block.for_each_parameter([&](Parameter& parameter) { region.bind(&parameter, values[i++]); });
}

// What the block has left in a region, which returns it, and for which parameters.
std::vector<Value> statistics(Module& block, Graph& region, std::vector<const Parameter*>& left) {
  std::vector<Value> values;
  block.for_each_parameter([&](Parameter& parameter) {
    if (const std::optional<Value> statistic = parameter.left_in(region)) {
      values.push_back(*statistic);
      left.push_back(&parameter);
    }
  });
  return values;
}

void leave_in(Graph& graph, const std::vector<const Parameter*>& left, std::span<const Value> values) {
  for (size_t i = 0; i < left.size(); ++i) left[i]->leave(graph, values[i]);
}

void append_to(std::vector<Value>& values, const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
}

Tensor scanned(const std::vector<Module*>& blocks, const Tensor& x, const std::vector<Tensor>& constants,
               const RunLayer& run) {
  Module& block = *blocks[0];
  ScanOperands operands{{}, {x.value()}, bound_values(block, x.graph())};
  append_to(operands.consts, constants);
  std::vector<const Parameter*> left;
  const auto body = [&](Graph& region, const ScanOperands& in) {
    bind_in(region, block, in.xs);
    const Tensor next = run(0, in.carries[0], {in.consts.begin(), in.consts.end()});
    return ScanResults{{next.value()}, statistics(block, region, left)};
  };
  const ScanResults results = scan(x.graph(), static_cast<int64_t>(blocks.size()), operands, body);
  leave_in(x.graph(), left, results.ys);
  return results.carries[0];
}

Tensor checkpointed(Module& block, size_t layer, const Tensor& x, const std::vector<Tensor>& constants,
                    const RunLayer& run) {
  std::vector<Value> operands = {x.value()};
  append_to(operands, constants);
  const std::vector<Value> parameters = bound_values(block, x.graph());
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  std::vector<const Parameter*> left;
  const auto body = [&](Graph& region, const std::vector<Value>& in) {
    const auto first = in.begin() + 1;
    const auto split = first + static_cast<int64_t>(constants.size());
    bind_in(region, block, {split, in.end()});
    const Tensor next = run(layer, in[0], {first, split});
    std::vector<Value> out = {next.value()};
    for (const Value& statistic : statistics(block, region, left)) out.push_back(statistic);
    return out;
  };
  const std::vector<Value> results = checkpoint(x.graph(), operands, body);
  leave_in(x.graph(), left, std::span(results).subspan(1));
  return results[0];
}

}  // namespace

Tensor run_layers(const std::vector<Module*>& blocks, const Tensor& x, const std::vector<Tensor>& constants,
                  const LayerOptions& options, const RunLayer& run) {
  if (blocks.empty()) return x;
  if (options.scan) return scanned(blocks, x, constants, run);
  Tensor result = x;
  for (size_t layer = 0; layer < blocks.size(); ++layer) {
    result = options.checkpoint ? checkpointed(*blocks[layer], layer, result, constants, run)
                                : run(layer, result, constants);
  }
  return result;
}

}  // namespace tethys
