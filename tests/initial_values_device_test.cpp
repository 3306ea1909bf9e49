// Random bits against the published vectors, and initial values: their distribution, and that neither mesh nor
// stacking changes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "models/llama3/config.h"
#include "models/llama3/plan.h"
#include "nn/initial_values.h"
#include "ops/random/threefry.h"
#include "support/placement_testing.h"

namespace tethys {
namespace {

HostTensor words(const std::vector<uint32_t>& values) {
  return HostTensor::of<uint32_t>({static_cast<int64_t>(values.size())}, values);
}

// The vectors for 20 rounds in Random123's file of known answers.
TEST(Threefry, GivesTheKnownAnswers) {
  Graph graph;
  std::vector<Value> in;
  for (int i = 0; i < 4; ++i) in.push_back(graph.input({DType::U32, {3}}, fmt::format("x{}", i)));
  const Words out = threefry2x32({in[0], in[1]}, {in[2], in[3]});
  graph.set_outputs({out.first.value(), out.second.value()});
  const auto results = placement_testing::run(make_program(graph, {}, {}),
                                              {words({0, 0xffffffff, 0x13198a2e}), words({0, 0xffffffff, 0x03707344}),
                                               words({0, 0xffffffff, 0x243f6a88}), words({0, 0xffffffff, 0x85a308d3})});
  EXPECT_EQ(results[0][0], (std::vector<double>{0x6b200159, 0x1cb996fc, 0xc4923a9c}));
  EXPECT_EQ(results[1][0], (std::vector<double>{0x99ba4efe, 0xbb002be7, 0x483df7a0}));
}

TEST(Threefry, UniformValuesAreInsideTheOpenIntervalAndAgreeBetweenDtypes) {
  Graph graph;
  const Words bits = {graph.input({DType::U32, {3}}, "a"), graph.input({DType::U32, {3}}, "b")};
  graph.set_outputs({symmetric_uniform(bits, DType::F32).value(), symmetric_uniform(bits, DType::F64).value()});
  const auto results = placement_testing::run(make_program(graph, {}, {}),
                                              {words({0, 0x80000000, 0xffffffff}), words({0, 0, 0xffffffff})});
  EXPECT_EQ(results[0][0], (std::vector<double>{-1 + 0x1p-23, 0x1p-23, 1 - 0x1p-23}));
  EXPECT_EQ(results[1][0], (std::vector<double>{-1 + 0x1p-52, 0x1p-52, 1 - 0x1p-52}));
}

// By logical name.
using Values = std::map<std::string, std::vector<double>>;

Values initial(const Mesh& mesh, bool stack, uint32_t seed, DType dtype = DType::F32) {
  Config config;
  const Origin origin{Origin::Source::Flag, "test"};
  for (const auto& [name, value] : std::map<std::string, int64_t>{{"model.dim", 64},
                                                                  {"model.n_layers", 3},
                                                                  {"model.n_heads", 4},
                                                                  {"model.n_kv_heads", 2},
                                                                  {"model.ffn_dim", 96},
                                                                  {"model.vocab_size", 1003}}) {
    config.set(name, value, origin);
  }
  const auto model = llama_config(config)->build();
  StoreOptions options;
  options.mesh = mesh;
  options.stack_layers = stack;
  options.storage_dtype = dtype;
  const std::vector<StoredParameter> store = make_store(*model, llama_plan({}), options);
  Graph graph;
  graph.set_outputs(initial_values(graph.input({DType::U32, {2}}, "seed"), store));
  const auto results = placement_testing::run(make_program(graph, mesh, {}), {words({seed, 0})});
  Values values;
  for (size_t i = 0; i < store.size(); ++i) {
    const Dims& padded = store[i].members[0]->parametrization().storage_dims;
    const int64_t size = element_count(padded);
    for (size_t k = 0; k < store[i].members.size(); ++k) {
      const Parameter& member = *store[i].members[k];
      for (int64_t e = 0; e < size; ++e) {
        const double value = results[i][0][static_cast<size_t>(k * size + e)];
        if (e / (size / padded[0]) < member.dims()[0]) {  // only first dimensions are padded here
          values[member.name()].push_back(value);
        } else {
          EXPECT_EQ(value, 0) << member.name();
        }
      }
    }
  }
  return values;
}

TEST(InitialValues, AreTheSameBitsStackedOrNotOnAnyMesh) {
  const Values expected = initial({}, false, 7);
  EXPECT_EQ(initial({}, true, 7), expected);
  EXPECT_EQ(initial(Mesh({{"dp_shard", 4}}), true, 7), expected);
  EXPECT_EQ(initial(Mesh({{"dp_replicate", 2}, {"dp_shard", 2}}), false, 7), expected);
  EXPECT_EQ(initial(Mesh({{"dp_shard", 2}, {"tp", 2}}), true, 7), expected);
}

struct Moments {
  double mean, std, largest;
};

Moments moments(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double squares = 0, largest = 0;
  for (double v : x) squares += (v - mean) * (v - mean), largest = std::max(largest, std::abs(v));
  return {mean, std::sqrt(squares / n), largest};
}

TEST(InitialValues, HaveTheStandardDeviationsOfTheRule) {
  const Values values = initial({}, true, 1);
  const std::map<std::string, double> expected = {{"tok_embeddings.weight", 1.0},
                                                  {"layers.0.attention.wq.weight", 0.02},
                                                  {"layers.0.attention.wo.weight", 0.02 / std::sqrt(2.0)},
                                                  {"layers.2.feed_forward.w2.weight", 0.02 / std::sqrt(6.0)},
                                                  {"layers.2.feed_forward.w3.weight", 0.02 / std::sqrt(6.0)}};
  for (const auto& [name, std] : expected) {
    const Moments m = moments(values.at(name));
    const double error = 1 / std::sqrt(static_cast<double>(values.at(name).size()));  // one σ of the mean, in stds
    EXPECT_NEAR(m.mean, 0, 4 * error * std) << name;
    EXPECT_NEAR(m.std, std, 4 * error * std) << name;
    EXPECT_GT(m.largest, 3 * std) << name;
  }
  // Cut at three: its standard deviation is 0.9866 of the normal's.
  const Moments output = moments(values.at("output.weight"));
  EXPECT_LE(output.largest, 3.0 / 8);
  EXPECT_NEAR(output.std, 0.9866 / 8, 0.002);
  for (double value : values.at("norm.weight")) EXPECT_EQ(value, 1);
}

TEST(InitialValues, DifferBetweenSeedsAndNames) {
  const Values a = initial({}, true, 1);
  const Values b = initial({}, true, 2);
  EXPECT_NE(a.at("layers.0.attention.wq.weight"), b.at("layers.0.attention.wq.weight"));
  EXPECT_NE(a.at("layers.0.attention.wq.weight"), a.at("layers.1.attention.wq.weight"));
  EXPECT_NE(a.at("layers.0.feed_forward.w1.weight"), a.at("layers.0.feed_forward.w3.weight"));
}

TEST(InitialValues, OfFloat64AreThoseOfFloat32WithMoreDigits) {
  const Values narrow = initial({}, true, 3);
  const Values fine = initial({}, true, 3, DType::F64);
  for (const auto& [name, values] : narrow) {
    const double std = moments(values).std;
    for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], fine.at(name)[i], 1e-2 * std + 1e-12) << name;
  }
}

}  // namespace
}  // namespace tethys
