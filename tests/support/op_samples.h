// For tests that run over every op by itself: each sample of each op record and of each kernel, and its application in
// a graph.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/grouped_matmul/grouped_matmul.h"
#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "kernels/routed_experts/routed_experts.h"
#include "ops/kernel/kernel.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"
#include "transforms/grad.h"

namespace tethys::op_samples {

// Those with samples; others are the backward of one of these.
inline const KernelRecord* const kKernels[] = {&attention_kernel, &grouped_matmul_kernel, &linear_cross_entropy_kernel,
                                               &routed_experts_kernel};

struct SampledOp {
  const OpRecord* op = nullptr;
  Sample sample;
  const KernelRecord* kernel = nullptr;  // in place of an op; its reference stands for it

  std::string name() const { return kernel != nullptr ? fmt::format("kernel_{}", kernel->name) : op->name; }
  Gradient gradient() const { return kernel != nullptr ? kernel->gradient : op->gradient; }
};

inline std::vector<SampledOp> samples_of(const OpRecord& op) {
  std::vector<SampledOp> all;
  if (op.samples == nullptr) return all;
  for (Sample& sample : op.samples()) all.push_back({&op, std::move(sample)});
  return all;
}

inline std::vector<SampledOp> samples_of(const KernelRecord& kernel) {
  std::vector<SampledOp> all;
  for (Sample& sample : kernel.samples()) all.push_back({nullptr, std::move(sample), &kernel});
  return all;
}

// One list for each op and kernel.
inline std::vector<std::vector<SampledOp>> samples_by_op() {
  std::vector<std::vector<SampledOp>> all;
  for (const OpRecord* op : all_ops()) all.push_back(samples_of(*op));
  for (const KernelRecord* kernel : kKernels) all.push_back(samples_of(*kernel));
  std::erase_if(all, [](const auto& samples) { return samples.empty(); });
  return all;
}

inline std::vector<SampledOp> all_samples() {
  std::vector<SampledOp> all;
  for (auto& samples : samples_by_op()) {
    for (SampledOp& s : samples) all.push_back(std::move(s));
  }
  return all;
}

inline void PrintTo(const SampledOp& s, std::ostream* out) { *out << s.name() << " '" << s.sample.name << "'"; }

// "reduce_sum_of_all"
inline std::string test_name(const testing::TestParamInfo<SampledOp>& info) {
  std::string name = info.param.name() + "_" + info.param.sample.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

inline bool has_floating_operand(const Sample& sample) {
  return std::any_of(sample.operands.begin(), sample.operands.end(),
                     [](const HostTensor& t) { return is_floating(t.type().dtype); });
}

inline bool is_differentiable(const SampledOp& s) {
  return (s.gradient() == Gradient::Rule || s.gradient() == Gradient::Region) && has_floating_operand(s.sample);
}

inline std::vector<Value> apply(Graph& graph, const SampledOp& s, const std::vector<Value>& operands) {
  if (s.kernel != nullptr) return kernel(*s.kernel, graph, s.sample.attributes, operands);
  std::vector<TensorType> types;
  for (const Value& v : operands) types.push_back(v.type());
  return graph.append(*s.op, s.sample.attributes, operands, s.sample.regions ? s.sample.regions(types) : Regions{},
                      s.sample.declared);
}

// Inputs for the operands of a sample, lying as `placements` say (empty: on one device).
inline std::vector<Value> inputs_of(Graph& graph, const Sample& sample, const std::vector<Placement>& placements = {}) {
  std::vector<Value> inputs;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    inputs.push_back(graph.input(sample.operands[i].type(), fmt::format("x{}", i),
                                 placements.empty() ? Placement{} : placements[i]));
  }
  return inputs;
}

// The sum of all elements of the floating results, each times a number of its own: a scalar that every element moves.
inline Value weighted_sum(Graph& graph, const std::vector<Value>& results) {
  std::optional<Value> sum;
  for (size_t i = 0; i < results.size(); ++i) {
    const Value& r = results[i];
    if (!is_floating(r.dtype())) continue;
    const HostTensor weights = sample_tensor(r.dims(), 17 + static_cast<int>(i), 0.5, 1.5, r.dtype());
    Dims all(r.dims().size());
    for (size_t d = 0; d < all.size(); ++d) all[d] = static_cast<int64_t>(d);
    const Value part = reduce_sum(multiply(r, constant(graph, weights)), all);
    sum = sum ? add(*sum, part) : part;
  }
  require(sum.has_value(), "no floating result");
  return *sum;
}

// The results that have a gradient: of a kernel's the first, since the others serve its backward.
inline std::vector<Value> differentiable_results(const SampledOp& s, std::vector<Value> results) {
  if (s.kernel != nullptr) results.resize(1);
  return results;
}

// The gradients of `loss` for the floating ones of `inputs`, in order.
inline std::vector<Value> floating_gradients(const Value& loss, const std::vector<Value>& inputs,
                                             const RematPolicy& policy = {}) {
  std::vector<Value> wrt;
  for (const Value& v : inputs) {
    if (is_floating(v.dtype())) wrt.push_back(v);
  }
  std::vector<Value> out;
  for (const std::optional<Value>& g : gradients(loss, wrt, policy)) {
    if (g) out.push_back(*g);
  }
  EXPECT_EQ(out.size(), wrt.size()) << "an operand has no gradient";
  return out;
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (double v : values) most = std::max(most, std::abs(v));
  return most;
}

// max|a − b| ≤ tolerance · max(max|b|, least_scale)
inline void expect_close(const HostTensor& got, const HostTensor& expected, double tolerance, const std::string& what,
                         double least_scale = 0) {
  ASSERT_EQ(got.type().dims, expected.type().dims) << what;
  const std::vector<double> a = got.to_doubles();
  const std::vector<double> b = expected.to_doubles();
  const double scale = std::max(largest(b), least_scale);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_LE(std::abs(a[i] - b[i]), tolerance * scale) << what << ", element " << i << ": " << a[i] << " and " << b[i];
  }
}

}  // namespace tethys::op_samples
