// One step of AdamW against closed forms, in float64 and in float32.
#include <gtest/gtest.h>

#include <cmath>

#include "optim/adamw.h"
#include "runtime/executor.h"
#include "runtime/testing.h"

namespace tethys {
namespace {

using runtime_testing::client;
using runtime_testing::put;

HostTensor numbers(DType dtype, const std::vector<double>& values, Dims dims) {
  return HostTensor::from_doubles({dtype, std::move(dims)}, values);
}

double relative(double got, double expected) { return std::abs(got - expected) / std::abs(expected); }

TEST(AdamWStep, BiasCorrectionsKeepTheDigitsOfTheDTypeAlsoWhereTheyAreSmall) {
  Executor executor(client(), Mesh(), {});
  const AdamW adamw{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
  for (const auto& [dtype, bound] : {std::pair(DType::F64, 1e-14), std::pair(DType::F32, 5e-7)}) {
    Graph graph;
    const Value number = graph.input({DType::S32, {}}, "step");
    const AdamWStep step = adamw_step(adamw, number, graph.input({dtype, {}}, "learning_rate"));
    graph.set_outputs({step.correction1.value(), step.root_correction2.value()});
    for (const int32_t t : {1, 2, 30, 1000, 100000}) {
      const std::vector<Array> results = executor.call(
          graph, {put(executor, HostTensor::scalar(t - 1), {}), put(executor, numbers(dtype, {1}, {}), {})});
      EXPECT_LT(relative(to_host(results[0]).to_doubles()[0], -std::expm1(t * std::log(0.9))), bound) << t;
      EXPECT_LT(relative(to_host(results[1]).to_doubles()[0], std::sqrt(-std::expm1(t * std::log(0.999)))), bound) << t;
    }
  }
}

// Of a first step the corrected moments are g and g², whatever the betas: p ← p · (1 − lr · decay) − lr · g / (|g| +
// eps).
TEST(AdamWStep, AFirstStepInFloat64IsThatOfTheClosedForm) {
  Executor executor(client(), Mesh(), {});
  const AdamW adamw{.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-3};
  const std::vector<double> p = {1, -2, 0.5}, g = {0.25, -1e-3, 3};
  constexpr double kRate = 0.1, kDecay = 0.01;
  const TensorType vector{DType::F64, {3}}, scalar{DType::F64, {}};
  Graph graph;
  const Value number = graph.input({DType::S32, {}}, "step");
  const AdamWStep step = adamw_step(adamw, number, graph.input(scalar, "learning_rate"));
  const Tensor parameter = graph.input(vector, "p");
  const Tensor gradient = graph.input(vector, "g");
  const Tensor zero = full_like(parameter, 0);
  const Moments moments = adamw_moments(adamw, {zero, zero}, gradient);
  const Tensor one = full_like(step.learning_rate, 1);
  graph.set_outputs({adamw_parameter(adamw, step, parameter, moments, one, one * kDecay).value()});
  const std::vector<Array> results = executor.call(
      graph, {put(executor, HostTensor::scalar(0), {}), put(executor, numbers(DType::F64, {kRate}, {}), {}),
              put(executor, numbers(DType::F64, p, {3}), {}), put(executor, numbers(DType::F64, g, {3}), {})});
  const std::vector<double> got = to_host(results[0]).to_doubles();
  for (size_t i = 0; i < p.size(); ++i) {
    const double expected = p[i] * (1 - kRate * kDecay) - kRate * g[i] / (std::abs(g[i]) + adamw.eps);
    EXPECT_LT(relative(got[i], expected), 1e-14) << i;
  }
}

}  // namespace
}  // namespace tethys
