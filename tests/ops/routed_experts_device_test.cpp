// On one device and with experts on several. Routed experts against one token after the other through its experts, in
// loops written from the formula; and one program for whatever routing.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/grouped_matmul/grouped_matmul.h"
#include "kernels/routed_experts/routed_experts.h"
#include "ops/control/redistribute.h"
#include "runtime/testing.h"
#include "support/op_samples.h"

namespace tethys {
namespace {

constexpr int64_t B = 2, S = 20, D = 3, T = 2, E = 8, F = 4;

using Inputs = std::vector<HostTensor>;

Inputs inputs_with(const std::vector<int32_t>& ids) {
  return {sample_tensor({B, S, D}, 1),         HostTensor::of<int32_t>({B, S, T}, ids),
          sample_tensor({B, S, T}, 2, 0.1, 1), sample_tensor({E, F, D}, 3),
          sample_tensor({E, F, D}, 4),         sample_tensor({E, D, F}, 5),
          sample_tensor({B, S, D}, 6)};  // the last: a cotangent
}

// The result, and the gradients of x, weights, w1, w3, w2 for the cotangent; by formula.
struct Expected {
  std::vector<double> out, dx, dweights, dw1, dw3, dw2;
};

// Of one token and one of its experts, which starts at these elements.
void add_assignment(const Inputs& in, int64_t n, int64_t t, Expected& to) {
  const std::vector<double> x = in[0].to_doubles(), w1 = in[3].to_doubles(), w3 = in[4].to_doubles(),
                            w2 = in[5].to_doubles(), g = in[6].to_doubles();
  const int64_t e = in[1].as<int32_t>()[n * T + t];
  const double weight = in[2].to_doubles()[n * T + t];
  std::vector<double> gate(F, 0), up(F, 0), silu(F), dsilu(F);
  for (int64_t f = 0; f < F; ++f) {
    for (int64_t d = 0; d < D; ++d) {
      gate[f] += w1[(e * F + f) * D + d] * x[n * D + d];
      up[f] += w3[(e * F + f) * D + d] * x[n * D + d];
    }
    const double sigmoid = 1 / (1 + std::exp(-gate[f]));
    silu[f] = gate[f] * sigmoid;
    dsilu[f] = sigmoid + gate[f] * sigmoid * (1 - sigmoid);
  }
  for (int64_t f = 0; f < F; ++f) {
    double dhidden = 0;
    for (int64_t d = 0; d < D; ++d) {
      const double y = w2[(e * D + d) * F + f] * silu[f] * up[f];  // the share of hidden unit f
      to.out[n * D + d] += weight * y;
      to.dweights[n * T + t] += g[n * D + d] * y;
      to.dw2[(e * D + d) * F + f] += weight * g[n * D + d] * silu[f] * up[f];
      dhidden += weight * g[n * D + d] * w2[(e * D + d) * F + f];
    }
    for (int64_t d = 0; d < D; ++d) {
      to.dw1[(e * F + f) * D + d] += dhidden * up[f] * dsilu[f] * x[n * D + d];
      to.dw3[(e * F + f) * D + d] += dhidden * silu[f] * x[n * D + d];
      to.dx[n * D + d] += dhidden * (up[f] * dsilu[f] * w1[(e * F + f) * D + d] + silu[f] * w3[(e * F + f) * D + d]);
    }
  }
}

std::vector<std::vector<double>> one_by_one(const Inputs& in) {
  Expected to{std::vector<double>(B * S * D), std::vector<double>(B * S * D), std::vector<double>(B * S * T),
              std::vector<double>(E * F * D), std::vector<double>(E * F * D), std::vector<double>(E * D * F)};
  for (int64_t n = 0; n < B * S; ++n) {
    for (int64_t t = 0; t < T; ++t) add_assignment(in, n, t, to);
  }
  return {to.out, to.dx, to.dweights, to.dw1, to.dw3, to.dw2};
}

// Where tokens and experts lie on a mesh.
struct Layouts {
  std::string name = "one device";
  Mesh mesh;
  Placement tokens, w13, w2;
  Dispatcher dispatcher = Dispatcher::AllToAll;

  std::vector<Placement> of_inputs() const { return {tokens, tokens, tokens, w13, w13, w2, tokens}; }
};

std::vector<std::vector<double>> by_kernel(Executor& executor, const Inputs& inputs, const Layouts& layouts) {
  Graph graph;
  std::vector<Array> arguments;
  std::vector<Value> in;
  for (const HostTensor& input : inputs) {
    const Placement placement = layouts.of_inputs()[in.size()];
    in.push_back(graph.input(input.type(), fmt::format("x{}", in.size()), placement));
    arguments.push_back(runtime_testing::put(executor, input, placement));
  }
  const Tensor out = routed_experts({in[0], in[1], in[2], in[3], in[4], in[5]}, layouts.dispatcher);
  std::vector<Value> outputs = {out.value()};
  const Value loss = sum(out * Tensor(in[6])).value();
  const std::vector<Value> differentiated = {in[0], in[2], in[3], in[4], in[5]};
  for (const auto& g : gradients(loss, differentiated, {})) outputs.push_back(g.value());
  for (Value& v : outputs) v = redistribute(v, replicated(layouts.mesh));
  graph.set_outputs(outputs);
  std::vector<std::vector<double>> results;
  for (const Array& array : executor.call(graph, arguments)) results.push_back(to_host(array).to_doubles());
  return results;
}

// Which experts token n goes to.
std::vector<int32_t> routed(const std::function<std::pair<int64_t, int64_t>(int64_t n)>& experts) {
  std::vector<int32_t> ids;
  for (int64_t n = 0; n < B * S; ++n) {
    const auto [first, second] = experts(n);
    ids.push_back(static_cast<int32_t>(first));
    ids.push_back(static_cast<int32_t>(second));
  }
  return ids;
}

// In one program for every routing.
void expect_each_token_through_its_experts(const Layouts& layouts) {
  Executor executor(runtime_testing::client(), layouts.mesh, Capabilities{});
  const std::pair<const char*, std::vector<int32_t>> routings[] = {
      {"scattered", routed([](int64_t n) {
         return std::pair{(n * n) % E, (n * n + 1 + n % 3) % E};
       })},
      {"uniform", routed([](int64_t n) {
         return std::pair{n % E, (n + 1) % E};
       })},
      {"all to the last two", routed([](int64_t) {
         return std::pair{E - 1, E - 2};
       })},
      {"all to the first two", routed([](int64_t) {
         return std::pair{0, 1};
       })}};
  const char* const names[] = {"out", "dx", "dweights", "dw1", "dw3", "dw2"};
  for (const auto& [routing, ids] : routings) {
    const Inputs inputs = inputs_with(ids);
    const auto got = by_kernel(executor, inputs, layouts);
    const auto expected = one_by_one(inputs);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].size(), expected[i].size()) << names[i];
      const double scale = op_samples::largest(expected[i]);
      for (size_t k = 0; k < got[i].size(); ++k)
        ASSERT_NEAR(got[i][k], expected[i][k], 1e-12 * scale) << names[i] << ", " << routing << ", " << layouts.name;
    }
  }
  EXPECT_EQ(executor.counters().compiles, 1);
}

TEST(RoutedExperts, AreEachTokenThroughItsExperts) { expect_each_token_through_its_experts({}); }

TEST(RoutedExperts, MayLieOnSeveralDevices) {
  const Mesh two({{"x", 2}}), four({{"x", 2}, {"y", 2}});
  const Placement both = {shard(0), shard(0)}, major = {shard(0), replicate()}, minor = {replicate(), shard(0)};
  const Layouts all[] = {
      {"rows and experts cut alike", two, {shard(0)}, {shard(0)}, {shard(0)}},
      {"tokens of a row and experts cut alike", two, {shard(1)}, {shard(0)}, {shard(0)}},
      {"the same tokens everywhere", two, {replicate()}, {shard(0)}, {shard(0)}},
      {"experts over both axes, rows over one and tokens of a row over the other",
       four,
       {shard(0), shard(1)},
       both,
       both},
      {"experts over both axes, tokens over the major one", four, major, both, both},
      {"experts over both axes, tokens over the minor one", four, minor, both, both},
      {"experts over the minor axis, tokens over both", four, {shard(0), shard(1)}, minor, minor},
      {"experts over the major axis, their width over the minor one",
       four,
       major,
       {shard(0), shard(1)},
       {shard(0), shard(2)}},
  };
  for (Layouts layouts : all) {
    for (const Dispatcher dispatcher : {Dispatcher::Local, Dispatcher::AllToAll}) {
      layouts.dispatcher = dispatcher;
      expect_each_token_through_its_experts(layouts);
    }
  }
}

// Rows behind the counts are zero, however many there are.
TEST(GroupedMatmul, MultipliesEachGroupByItsMatrixAndLeavesTheRestZero) {
  Executor& executor = runtime_testing::shared_executor(1);
  const HostTensor x = sample_tensor({40, 3}, 1), w = sample_tensor({4, 2, 3}, 2);
  for (const std::vector<int32_t>& counts :
       {std::vector<int32_t>{9, 0, 16, 3}, {0, 0, 0, 0}, {40, 0, 0, 0}, {0, 0, 0, 40}, {1, 1, 1, 1}}) {
    Graph graph;
    const Inputs inputs = {x, w, HostTensor::of<int32_t>({4}, counts)};
    std::vector<Value> in;
    std::vector<Array> arguments;
    for (const HostTensor& input : inputs) {
      in.push_back(graph.input(input.type(), fmt::format("x{}", in.size()), Placement{}));
      arguments.push_back(runtime_testing::put(executor, input, {}));
    }
    graph.set_outputs({grouped_matmul(in[0], in[1], in[2]).value()});
    const std::vector<double> got = to_host(executor.call(graph, arguments)[0]).to_doubles();
    std::vector<double> expected(40 * 2, 0);
    int64_t row = 0;
    for (int64_t e = 0; e < 4; ++e) {
      for (int32_t i = 0; i < counts[e]; ++i, ++row) {
        for (int64_t n = 0; n < 2; ++n) {
          for (int64_t k = 0; k < 3; ++k)
            expected[row * 2 + n] += x.to_doubles()[row * 3 + k] * w.to_doubles()[(e * 2 + n) * 3 + k];
        }
      }
    }
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-14) << "element " << i;
  }
}

}  // namespace
}  // namespace tethys
