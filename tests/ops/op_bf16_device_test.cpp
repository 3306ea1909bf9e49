// Every op's floating samples in bfloat16 against float64, on the same numbers: those that bfloat16 can hold.
#include <gtest/gtest.h>

#include "runtime/testing.h"
#include "support/op_samples.h"

namespace tethys {
namespace {

using namespace op_samples;

// Relative to the largest number in or out. One rounding is 2⁻⁹; sums round after each of up to 96 additions.
constexpr double kTolerance = 1.0 / 64;

TensorType narrowed(const TensorType& type) { return type.dtype == DType::F64 ? type.with_dtype(DType::BF16) : type; }

HostTensor to_type(const HostTensor& t, const TensorType& type) {
  return HostTensor::from_doubles(type, t.to_doubles());
}

std::vector<HostTensor> run(Executor& executor, const SampledOp& s) {
  Graph graph;
  graph.set_outputs(apply(graph, s, inputs_of(graph, s.sample)));
  std::vector<Array> arguments;
  for (const HostTensor& operand : s.sample.operands) arguments.push_back(runtime_testing::put(executor, operand, {}));
  std::vector<HostTensor> results;
  for (const Array& array : executor.call(graph, arguments)) results.push_back(to_host(array));
  return results;
}

class OpBf16 : public testing::TestWithParam<SampledOp> {};

TEST_P(OpBf16, IsWithinRoundingOfFloat64) {
  SampledOp narrow = GetParam();
  SampledOp wide = GetParam();
  for (TensorType& type : narrow.sample.declared) type = narrowed(type);
  for (size_t i = 0; i < narrow.sample.operands.size(); ++i) {
    HostTensor& operand = narrow.sample.operands[i];
    operand = to_type(operand, narrowed(operand.type()));
    wide.sample.operands[i] = to_type(operand, wide.sample.operands[i].type());
  }
  Executor& executor = runtime_testing::shared_executor(1);
  const std::vector<HostTensor> got = run(executor, narrow);
  const std::vector<HostTensor> expected = run(executor, wide);
  ASSERT_EQ(got.size(), expected.size());
  double scale = 0;
  for (const HostTensor& operand : narrow.sample.operands) {
    if (is_floating(operand.type().dtype)) scale = std::max(scale, largest(operand.to_doubles()));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    expect_close(got[i], expected[i], kTolerance, fmt::format("result {}", i), scale);
  }
}

std::vector<SampledOp> floating() {
  std::vector<SampledOp> all = all_samples();
  std::erase_if(all, [](const SampledOp& s) { return !has_floating_operand(s.sample); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpBf16, testing::ValuesIn(floating()), test_name);

}  // namespace
}  // namespace tethys
