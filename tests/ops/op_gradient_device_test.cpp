// The gradient of every op's samples against a central difference: float64, along one direction that moves all
// floating operands.
#include <gtest/gtest.h>

#include "runtime/testing.h"
#include "support/op_samples.h"

namespace tethys {
namespace {

using namespace op_samples;

class OpGradient : public testing::TestWithParam<SampledOp> {};

struct Checked {
  double loss = 0;
  double slope = 0;  // along the direction, by the gradients
};

// loss and its gradients as one program; evaluated at x + step · direction.
class Check {
 public:
  Check(Executor& executor, const SampledOp& s, const RematPolicy& policy) : executor_(executor), sample_(s.sample) {
    const std::vector<Value> inputs = inputs_of(graph_, s.sample);
    const Value loss = weighted_sum(graph_, differentiable_results(s, apply(graph_, s, inputs)));
    std::vector<Value> outputs = floating_gradients(loss, inputs, policy);
    outputs.insert(outputs.begin(), loss);
    graph_.set_outputs(outputs);
  }

  Checked at(double step) const {
    std::vector<Array> arguments;
    for (size_t i = 0; i < sample_.operands.size(); ++i) {
      std::vector<double> values = sample_.operands[i].to_doubles();
      const std::vector<double> along = direction(i);
      for (size_t k = 0; k < values.size(); ++k) values[k] += step * along[k];
      arguments.push_back(
          runtime_testing::put(executor_, HostTensor::from_doubles(sample_.operands[i].type(), values), Placement{}));
    }
    const std::vector<Array> results = executor_.call(graph_, arguments);
    Checked checked{to_host(results[0]).to_doubles()[0], 0};
    size_t next = 1;
    for (size_t i = 0; i < sample_.operands.size(); ++i) {
      if (!is_floating(sample_.operands[i].type().dtype)) continue;
      const std::vector<double> gradient = to_host(results.at(next++)).to_doubles();
      const std::vector<double> along = direction(i);
      for (size_t k = 0; k < gradient.size(); ++k) checked.slope += gradient[k] * along[k];
    }
    return checked;
  }

 private:
  // Away from zero, so that no operand's part of the slope is lost; integers stay.
  std::vector<double> direction(size_t operand) const {
    const TensorType& type = sample_.operands[operand].type();
    if (!is_floating(type.dtype)) return std::vector<double>(static_cast<size_t>(type.elements()), 0);
    return sample_tensor(type.dims, 29 + static_cast<int>(operand), 0.3, 1).to_doubles();
  }

  Executor& executor_;
  const Sample& sample_;
  Graph graph_;
};

TEST_P(OpGradient, IsThatOfACentralDifference) {
  const SampledOp& s = GetParam();
  const bool single = std::any_of(s.sample.operands.begin(), s.sample.operands.end(),
                                  [](const HostTensor& t) { return t.type().dtype == DType::F32; });
  const double step = single ? 1e-2 : 1e-5;
  const double tolerance = single ? 1e-4 : 1e-8;
  Executor& executor = runtime_testing::shared_executor(1);
  std::vector<RematPolicy> policies = {{RematPolicy::Kind::None, {}}};
  if (s.gradient() == Gradient::Region) policies.push_back({RematPolicy::Kind::Full, {}});
  for (const RematPolicy& policy : policies) {
    const Check check(executor, s, policy);
    const double slope = check.at(0).slope;
    const double difference = (check.at(step).loss - check.at(-step).loss) / (2 * step);
    EXPECT_NEAR(slope, difference, tolerance * std::max(1.0, std::abs(difference)));
  }
}

std::vector<SampledOp> differentiable() {
  std::vector<SampledOp> all = all_samples();
  std::erase_if(all, [](const SampledOp& s) { return !is_differentiable(s); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpGradient, testing::ValuesIn(differentiable()), test_name);

}  // namespace
}  // namespace tethys
