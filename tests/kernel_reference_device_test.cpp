// The reference compositions of the kernels, against loops written from the formulas, numeric gradients, and themselves
// on a mesh.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"
#include "support/placement_testing.h"
#include "transforms/grad.h"

namespace tethys {
namespace {

using placement_testing::expect_close;
using Results = std::vector<std::vector<double>>;
using Inputs = std::vector<HostTensor>;
using Record = std::function<std::vector<Value>(const std::vector<Value>& inputs)>;

// The results of what `record` records, computed on a mesh; every copy of a result is compared with the first.
Results run(const Inputs& inputs, const Record& record, const Mesh& mesh = {},
            const std::vector<Placement>& placements = {}) {
  Graph graph;
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(
        graph.input(inputs[i].type(), fmt::format("x{}", i), placements.empty() ? Placement{} : placements[i]));
  }
  graph.set_outputs(record(values));
  Results results;
  for (const auto& copies : placement_testing::run(make_program(graph, mesh, {}), inputs)) {
    for (const auto& copy : copies) expect_close(copy, copies[0], 0, "a copy");
    results.push_back(copies[0]);
  }
  return results;
}

// Σ weights · x, with weights that look random.
Value weighted(const Tensor& x) {
  return sum(x * Tensor(constant(x.graph(), sample_tensor(x.dims(), 9, 0.5, 1.5, x.dtype())))).value();
}

// The derivative of a scalar along a direction, and what its gradients say of it.
void expect_gradient(const Inputs& inputs, size_t differentiated,
                     const std::function<Value(const std::vector<Value>&)>& scalar) {
  const Results gradients = run(inputs, [&](const std::vector<Value>& in) {
    const std::vector<Value> wrt(in.begin(), in.begin() + static_cast<int64_t>(differentiated));
    std::vector<Value> found;
    for (const auto& g : tethys::gradients(scalar(in), wrt, {})) found.push_back(g.value());
    return found;
  });
  for (size_t i = 0; i < differentiated; ++i) {
    const double step = 1e-5;
    const HostTensor direction = sample_tensor(inputs[i].type().dims, 31 + static_cast<int>(i));
    double expected = 0;
    for (double sign : {1.0, -1.0}) {
      Inputs moved = inputs;
      std::vector<double> x = inputs[i].to_doubles();
      for (size_t e = 0; e < x.size(); ++e) x[e] += sign * step * direction.to_doubles()[e];
      moved[i] = HostTensor::from_doubles(inputs[i].type(), x);
      expected += sign * run(moved, [&](const auto& in) { return std::vector<Value>{scalar(in)}; })[0][0] / (2 * step);
    }
    double got = 0;
    for (size_t e = 0; e < gradients[i].size(); ++e) got += gradients[i][e] * direction.to_doubles()[e];
    EXPECT_NEAR(got, expected, 1e-7 * std::max(1.0, std::abs(expected))) << "operand " << i;
  }
}

HostTensor integers(Dims dims, const std::vector<int32_t>& values) {
  return HostTensor::of<int32_t>(std::move(dims), values);
}

// --- attention ---

constexpr int64_t B = 2, S = 4, H = 4, K = 2, D = 3;
constexpr double kScale = 0.8;

// The first row has two documents; in the second, the first query stands before every key and sees nothing.
Inputs attention_inputs(int64_t batch = B) {
  Inputs inputs = {sample_tensor({batch, S, H, D}, 1, -2, 2), sample_tensor({batch, S, K, D}, 2, -2, 2),
                   sample_tensor({batch, S, K, D}, 3)};
  std::vector<int32_t> q_positions, k_positions, segments;
  for (int64_t b = 0; b < batch; ++b) {
    for (int32_t p : {0, 1, 0, 1}) k_positions.push_back(p + (b % 2 ? 1 : 0));
    for (int32_t p : {0, 1, 0, 1}) q_positions.push_back(p + (b % 2 && p == 1 ? 1 : 0));
    for (int32_t g : {0, 0, 1, 1}) segments.push_back(g);
  }
  for (const auto* rows : {&q_positions, &k_positions, &segments, &segments})
    inputs.push_back(integers({batch, S}, *rows));
  return inputs;
}

std::vector<Value> record_attention(const std::vector<Value>& x) {
  const Attention a = attention({x[0], x[1], x[2], x[3], x[4], x[5], x[6]}, {kScale});
  return {a.out_BSHD.value(), a.log_sum_exp_BHS.value()};
}

TEST(AttentionReference, IsTheSoftmaxOverWhatAQuerySees) {
  const Inputs inputs = attention_inputs();
  const Results got = run(inputs, record_attention);
  const std::vector<double> q = inputs[0].to_doubles(), k = inputs[1].to_doubles(), v = inputs[2].to_doubles();
  const auto at = [](int64_t b, int64_t s, int64_t h, int64_t heads) { return ((b * S + s) * heads + h) * D; };
  int64_t blind = 0;
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t s = 0; s < S; ++s) {
      for (int64_t h = 0; h < H; ++h) {
        double total = 0;
        std::vector<double> out(D, 0);
        for (int64_t t = 0; t < S; ++t) {
          if (inputs[4].as<int32_t>()[b * S + t] > inputs[3].as<int32_t>()[b * S + s]) continue;
          if (inputs[6].as<int32_t>()[b * S + t] != inputs[5].as<int32_t>()[b * S + s]) continue;
          double score = 0;
          for (int64_t d = 0; d < D; ++d) score += q[at(b, s, h, H) + d] * k[at(b, t, h / (H / K), K) + d];
          total += std::exp(score * kScale);
          for (int64_t d = 0; d < D; ++d) out[d] += std::exp(score * kScale) * v[at(b, t, h / (H / K), K) + d];
        }
        blind += total == 0;
        for (int64_t d = 0; d < D; ++d) {
          EXPECT_NEAR(got[0][at(b, s, h, H) + d], total == 0 ? 0 : out[d] / total, 1e-12);
        }
        const double log_sum_exp = got[1][(b * H + h) * S + s];
        if (total == 0) {
          EXPECT_EQ(log_sum_exp, -std::numeric_limits<double>::infinity());
        } else {
          EXPECT_NEAR(log_sum_exp, std::log(total), 1e-12);
        }
      }
    }
  }
  EXPECT_EQ(blind, 2 * H);  // position 0 of both documents of the second row
}

TEST(AttentionReference, GradientsAreTheNumericOnes) {
  expect_gradient(attention_inputs(), 3,
                  [](const std::vector<Value>& in) { return weighted(record_attention(in)[0]); });
}

TEST(AttentionReference, LargeScoresDoNotOverflow) {
  Inputs inputs = attention_inputs();
  std::vector<double> q = inputs[0].to_doubles();
  for (double& x : q) x *= 1e4;
  inputs[0] = HostTensor::from_doubles(inputs[0].type(), q);
  const Results got = run(inputs, record_attention);
  for (double x : got[0]) EXPECT_LE(std::abs(x), 1);  // a mean of values in [−1, 1)
}

TEST(AttentionReference, RunsOnShardsOfBatchAndHeads) {
  const Inputs inputs = attention_inputs(4);
  const Record record = [](const std::vector<Value>& in) {
    std::vector<Value> results = record_attention(in);
    const std::vector<Value> wrt(in.begin(), in.begin() + 3);
    for (const auto& g : gradients(weighted(results[0]), wrt, {})) results.push_back(g.value());
    return results;
  };
  const Mesh mesh({{"dp_shard", 2}, {"tp", 2}});
  const Placement heads = {shard(0), shard(2)};
  const Placement rows = {shard(0), replicate()};
  const Results expected = run(inputs, record);
  const Results got = run(inputs, record, mesh, {heads, heads, heads, rows, rows, rows, rows});
  for (size_t i = 0; i < expected.size(); ++i) expect_close(got[i], expected[i], 1e-12, fmt::format("result {}", i));
}

// --- linear_cross_entropy ---

constexpr int64_t V = 7;

Inputs loss_inputs() {
  return {sample_tensor({4, 2, D}, 1, -3, 3), sample_tensor({V, D}, 2, -3, 3),
          integers({4, 2}, {1, 6, kIgnoredLabel, 0, 3, 3, kIgnoredLabel, 2})};
}

Value record_loss(const std::vector<Value>& in) {
  return linear_cross_entropy(in[0], in[1], in[2], in[1].dims()[0]).value();
}

TEST(LinearCrossEntropyReference, IsTheSumOverValidLabelsOfMinusLogSoftmax) {
  const Inputs inputs = loss_inputs();
  const std::vector<double> x = inputs[0].to_doubles(), w = inputs[1].to_doubles();
  double expected = 0;
  for (int64_t row = 0; row < 8; ++row) {
    const int32_t label = inputs[2].as<int32_t>()[row];
    if (label == kIgnoredLabel) continue;
    double total = 0, at_label = 0;
    for (int64_t id = 0; id < V; ++id) {
      double logit = 0;
      for (int64_t d = 0; d < D; ++d) logit += x[row * D + d] * w[id * D + d];
      total += std::exp(logit);
      if (id == label) at_label = logit;
    }
    expected += std::log(total) - at_label;
  }
  EXPECT_NEAR(run(inputs, [](const auto& in) { return std::vector<Value>{record_loss(in)}; })[0][0], expected, 1e-11);
}

TEST(LinearCrossEntropyReference, GradientsAreTheNumericOnesTimesTheCotangent) {
  expect_gradient(loss_inputs(), 2,
                  [](const std::vector<Value>& in) { return (Tensor(record_loss(in)) * 0.3).value(); });
}

TEST(LinearCrossEntropyReference, RunsOnShardsOfRows) {
  const Record record = [](const std::vector<Value>& in) {
    std::vector<Value> results = {record_loss(in)};
    const std::vector<Value> wrt(in.begin(), in.begin() + 2);
    for (const auto& g : gradients(results[0], wrt, {})) results.push_back(g.value());
    return results;
  };
  const Mesh mesh({{"dp_shard", 4}});
  const Results expected = run(loss_inputs(), record);
  const Results got = run(loss_inputs(), record, mesh, {{shard(0)}, {replicate()}, {shard(0)}});
  for (size_t i = 0; i < expected.size(); ++i) expect_close(got[i], expected[i], 1e-12, fmt::format("result {}", i));
}

}  // namespace
}  // namespace tethys
