// The kernels block by block against the same at once: results and gradients over a table of shapes, on meshes, and the
// memory that a compiled program takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "kernels/attention/attention.h"
#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"
#include "support/placement_testing.h"
#include "transforms/grad.h"

namespace tethys {
namespace {

using placement_testing::expect_close;
using Inputs = std::vector<HostTensor>;
using Placements = std::vector<Placement>;
using Record = std::function<std::vector<Value>(const std::vector<Value>& inputs)>;
using Results = std::vector<std::vector<double>>;

constexpr double kTolerance = 1e-11;

Program program_of(const std::vector<TensorType>& types, const Record& record, const Mesh& mesh = {},
                   const Placements& placements = {}) {
  Graph graph;
  std::vector<Value> values;
  for (size_t i = 0; i < types.size(); ++i) {
    values.push_back(graph.input(types[i], fmt::format("x{}", i), placements.empty() ? Placement{} : placements[i]));
  }
  graph.set_outputs(record(values));
  return make_program(graph, mesh, {});
}

Results run(const Inputs& inputs, const Record& record, const Mesh& mesh = {}, const Placements& placements = {}) {
  std::vector<TensorType> types;
  for (const HostTensor& input : inputs) types.push_back(input.type());
  Results results;
  for (const auto& copies : placement_testing::run(program_of(types, record, mesh, placements), inputs)) {
    for (const auto& copy : copies) expect_close(copy, copies[0], 0, "a copy");
    results.push_back(copies[0]);
  }
  return results;
}

void expect_same(const Results& got, const Results& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    expect_close(got[i], expected[i], kTolerance, fmt::format("{}, result {}", what, i));
}

// Σ weights · x, with weights that look random.
Value weighted(const Tensor& x) {
  return sum(x * Tensor(constant(x.graph(), sample_tensor(x.dims(), 9, 0.5, 1.5, x.dtype())))).value();
}

// The results, then the gradients of the first one for the first `differentiated` inputs.
Record with_gradients(const Record& record, size_t differentiated) {
  return [=](const std::vector<Value>& in) {
    std::vector<Value> results = record(in);
    const std::vector<Value> wrt(in.begin(), in.begin() + static_cast<int64_t>(differentiated));
    for (const auto& g : gradients(weighted(results[0]), wrt, {})) results.push_back(g.value());
    return results;
  };
}

// --- attention ---

struct AttentionCase {
  const char* name;
  int64_t B, S, T, H, K, D;
  int64_t block;
  int64_t document = 1000;  // tokens of each document of a row
  bool blind = false;       // the first query of every row stands before all keys
};

// Queries are the last S of the T tokens of a row.
Inputs inputs_of(const AttentionCase& c) {
  Inputs inputs = {sample_tensor({c.B, c.S, c.H, c.D}, 1, -1, 1), sample_tensor({c.B, c.T, c.K, c.D}, 2, -1, 1),
                   sample_tensor({c.B, c.T, c.K, c.D}, 3)};
  std::vector<int32_t> rows[4];  // positions of queries and keys, segments of queries and keys
  for (int64_t b = 0; b < c.B; ++b) {
    for (int64_t t = 0; t < c.T; ++t) {
      const auto position = static_cast<int32_t>(t % c.document), segment = static_cast<int32_t>(t / c.document);
      rows[1].push_back(position + (c.blind ? 1 : 0));
      rows[3].push_back(segment);
      if (t < c.T - c.S) continue;
      rows[0].push_back(position + (c.blind && t > c.T - c.S ? 1 : 0));
      rows[2].push_back(segment);
    }
  }
  for (int i : {0, 1, 2, 3}) inputs.push_back(HostTensor::of<int32_t>({c.B, i % 2 ? c.T : c.S}, rows[i]));
  return inputs;
}

Record attention_of(int64_t block) {
  return with_gradients(
      [block](const std::vector<Value>& x) -> std::vector<Value> {
        const Attention a = attention({x[0], x[1], x[2], x[3], x[4], x[5], x[6]}, {0.3, block});
        return {a.out_BSHD.value(), a.log_sum_exp_BHS.value()};
      },
      3);
}

class ChunkedAttention : public testing::TestWithParam<AttentionCase> {};

TEST_P(ChunkedAttention, IsAttentionAtOnce) {
  const AttentionCase& c = GetParam();
  const Inputs inputs = inputs_of(c);
  expect_same(run(inputs, attention_of(c.block)), run(inputs, attention_of(0)), c.name);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChunkedAttention,
                         testing::Values(AttentionCase{"one_token", 1, 1, 1, 1, 1, 64, 16},
                                         AttentionCase{"one_query_of_many_keys", 2, 1, 37, 4, 2, 64, 16},
                                         AttentionCase{"one_block", 2, 12, 12, 4, 4, 8, 16},
                                         AttentionCase{"blocks_that_divide", 2, 32, 32, 4, 4, 64, 16},
                                         AttentionCase{"blocks_that_do_not", 1, 37, 37, 4, 1, 128, 16},
                                         AttentionCase{"blocks_of_one_token", 1, 5, 5, 2, 1, 8, 1},
                                         AttentionCase{"groups_of_query_heads", 2, 33, 33, 8, 2, 64, 8},
                                         AttentionCase{"fewer_queries_than_keys", 2, 19, 50, 4, 2, 8, 16},
                                         AttentionCase{"packed_documents", 2, 40, 40, 4, 2, 64, 16, 7},
                                         AttentionCase{"queries_that_see_nothing", 2, 40, 40, 4, 2, 8, 16, 11, true}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ChunkedAttentionAlone, RunsOnShardsOfBatchHeadsAndQueries) {
  const AttentionCase c{"sharded", 4, 16, 16, 8, 4, 8, 3, 6, true};
  const Inputs inputs = inputs_of(c);
  const Results expected = run(inputs, attention_of(0));
  const AxisPlacement B = shard(0), S = shard(1), heads = shard(2), R = replicate();
  struct Way {
    Mesh mesh;
    Placement q, kv, q_rows, k_rows;
  };
  const Way ways[] = {
      {Mesh({{"dp_shard", 4}}), {B}, {B}, {B}, {B}},
      {Mesh({{"tp", 4}}), {heads}, {heads}, {R}, {R}},
      {Mesh({{"cp", 4}}), {S}, {S}, {S}, {S}},
      {Mesh({{"dp_shard", 2}, {"cp", 2}, {"tp", 2}}), {B, S, heads}, {B, S, heads}, {B, S, R}, {B, S, R}},
  };
  for (const Way& way : ways) {
    const Placements placements = {way.q, way.kv, way.kv, way.q_rows, way.k_rows, way.q_rows, way.k_rows};
    expect_same(run(inputs, attention_of(c.block), way.mesh, placements), expected, to_string(way.mesh));
  }
}

// Bytes of the compiled program's temporaries.
double temporaries(const std::vector<TensorType>& types, const Record& record) {
  pjrt::CompileOptions options;
  options.env_option_overrides = {{"xla_backend_optimization_level", int64_t{0}}};
  const Program program = program_of(types, record);
  const pjrt::LoadedExecutable compiled = placement_testing::cpu_client(1).compile(program.text, options);
  return static_cast<double>(compiled.executable().memory_stats().temporaries);
}

double attention_temporaries(int64_t S, int64_t block) {
  const TensorType q{DType::F32, {1, S, 4, 64}}, kv{DType::F32, {1, S, 2, 64}}, row{DType::S32, {1, S}};
  // Gradients for a cotangent that is an input: a constant of this size would stand in the program's text.
  return temporaries({q, kv, kv, row, row, row, row, q}, [block](const std::vector<Value>& x) {
    const Attention a = attention({x[0], x[1], x[2], x[3], x[4], x[5], x[6]}, {0.125, block});
    std::vector<Value> results = {a.out_BSHD.value()};
    const std::vector<Value> wrt(x.begin(), x.begin() + 3);
    for (const auto& g : gradients(sum(a.out_BSHD * Tensor(x[7])).value(), wrt, {})) results.push_back(g.value());
    return results;
  });
}

TEST(ChunkedAttentionAlone, TakesMemoryThatGrowsWithTheRowAndNotWithItsSquare) {
  const double once = attention_temporaries(2048, 0), once_doubled = attention_temporaries(4096, 0);
  const double chunked = attention_temporaries(2048, 256), doubled = attention_temporaries(4096, 256);
  std::printf("temporaries at 2048 and 4096 tokens: at once %.1f and %.1f MB, in blocks %.1f and %.1f MB\n", once / 1e6,
              once_doubled / 1e6, chunked / 1e6, doubled / 1e6);
  EXPECT_GT(once_doubled / once, 3.5);
  EXPECT_LT(doubled / chunked, 2.5);
  EXPECT_LT(doubled, once_doubled / 10);
}

// --- linear_cross_entropy ---

struct LossCase {
  const char* name;
  int64_t B, S, D, V, words;  // `words` of the V rows of w
  int64_t chunk;
  bool ignored = false;  // all of them
};

Inputs inputs_of(const LossCase& c) {
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < c.B * c.S; ++i) {
    labels.push_back(c.ignored || i % 5 == 2 ? kIgnoredLabel : static_cast<int32_t>(i * 7 % c.words));
  }
  return {sample_tensor({c.B, c.S, c.D}, 1, -2, 2), sample_tensor({c.V, c.D}, 2, -2, 2),
          HostTensor::of<int32_t>({c.B, c.S}, labels)};
}

Record loss_of(int64_t words, int64_t chunk) {
  return with_gradients(
      [=](const std::vector<Value>& x) -> std::vector<Value> {
        return {linear_cross_entropy(x[0], x[1], x[2], words, chunk).value()};
      },
      2);
}

class ChunkedLoss : public testing::TestWithParam<LossCase> {};

TEST_P(ChunkedLoss, IsTheLossAtOnce) {
  const LossCase& c = GetParam();
  const Inputs inputs = inputs_of(c);
  expect_same(run(inputs, loss_of(c.words, c.chunk)), run(inputs, loss_of(c.words, 0)), c.name);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChunkedLoss,
                         testing::Values(LossCase{"one_token", 1, 1, 8, 11, 11, 16},
                                         LossCase{"one_chunk", 2, 8, 8, 11, 11, 16},
                                         LossCase{"chunks_that_divide", 2, 8, 8, 11, 11, 4},
                                         LossCase{"chunks_that_do_not", 3, 7, 8, 11, 11, 4},
                                         LossCase{"chunks_of_one_token", 1, 5, 8, 11, 11, 1},
                                         LossCase{"padded_vocabulary", 3, 7, 8, 12, 11, 4},
                                         LossCase{"all_labels_ignored", 3, 7, 8, 12, 11, 4, true}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ChunkedLossAlone, RunsOnShardsOfRowsAndOfTheVocabulary) {
  const LossCase c{"sharded", 4, 6, 8, 16, 13, 5};
  const Inputs inputs = inputs_of(c);
  const Results expected = run(inputs, loss_of(c.words, 0));
  const AxisPlacement rows = shard(0), tokens = shard(1), words = shard(0), R = replicate();
  struct Way {
    Mesh mesh;
    Placement x, w;
  };
  const Way ways[] = {{Mesh({{"dp_shard", 4}}), {rows}, {R}},
                      {Mesh({{"tp", 4}}), {R}, {words}},
                      {Mesh({{"dp_shard", 2}, {"cp", 2}, {"tp", 2}}), {rows, tokens, R}, {R, R, words}}};
  for (const Way& way : ways) {
    expect_same(run(inputs, loss_of(c.words, c.chunk), way.mesh, {way.x, way.w, way.x}), expected, to_string(way.mesh));
  }
}

double loss_temporaries(int64_t tokens, int64_t vocabulary, int64_t chunk) {
  return temporaries({{DType::F32, {1, tokens, 64}}, {DType::F32, {vocabulary, 64}}, {DType::S32, {1, tokens}}},
                     [=](const std::vector<Value>& x) -> std::vector<Value> {
                       const Tensor loss = linear_cross_entropy(x[0], x[1], x[2], vocabulary, chunk);
                       std::vector<Value> results = {loss.value()};
                       const std::vector<Value> wrt = {x[0], x[1]};
                       for (const auto& g : gradients(loss.value(), wrt, {})) results.push_back(g.value());
                       return results;
                     });
}

TEST(ChunkedLossAlone, NeverHoldsTheLogitsOfAllTokens) {
  constexpr int64_t kTokens = 4096, kVocabulary = 32768, kChunk = 256;
  const double logits = 4.0 * kTokens * kVocabulary;
  const double once = loss_temporaries(kTokens, kVocabulary, 0),
               chunked = loss_temporaries(kTokens, kVocabulary, kChunk);
  std::printf("logits %.0f MB; temporaries at once %.0f MB, in chunks %.0f MB\n", logits / 1e6, once / 1e6,
              chunked / 1e6);
  EXPECT_GT(once, logits);
  EXPECT_LT(chunked, logits / 4);
}

}  // namespace
}  // namespace tethys
