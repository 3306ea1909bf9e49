// Placed programs on virtual devices: every redistribution, and whole steps against the same step on one device.
#include <gtest/gtest.h>

#include <span>

#include "ops/control/redistribute.h"
#include "ops/control/scan.h"
#include "ops/dot/dot.h"
#include "ops/gather/gather.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"
#include "support/placement_testing.h"
#include "transforms/grad.h"

namespace tethys {
namespace {

using placement_testing::expect_close;
using placement_testing::run;

// All placements of a tensor of rank 2 on the mesh, with at most one kind of reduction.
std::vector<Placement> all_placements(const Mesh& mesh) {
  std::vector<Placement> all = {{}};
  for (int64_t axis = 0; axis < mesh.rank(); ++axis) {
    std::vector<Placement> longer;
    for (const Placement& p : all) {
      for (const AxisPlacement& a : {replicate(), shard(0), shard(1), partial(), partial(Reduction::Max)}) {
        longer.push_back(p);
        longer.back().push_back(a);
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [](const Placement& p) {
    const auto holds = [&](AxisPlacement a) { return std::find(p.begin(), p.end(), a) != p.end(); };
    return holds(partial()) && holds(partial(Reduction::Max));
  });
  return all;
}

// Redistributes a [24, 16] from each placement to each, of which every nth pair is taken, and compares with the value
// cut or padded to `dims`.
void expect_all_moves(const Mesh& mesh, const Dims& dims, size_t every) {
  const HostTensor x = sample_tensor({24, 16}, 1);
  const std::vector<double> values = x.to_doubles();
  std::vector<double> expected(element_count(dims), 0.0);
  for (int64_t i = 0; i < std::min<int64_t>(24, dims[0]); ++i) {
    for (int64_t j = 0; j < std::min<int64_t>(16, dims[1]); ++j) expected[i * dims[1] + j] = values[i * 16 + j];
  }
  const std::vector<Placement> all = all_placements(mesh);
  std::vector<std::pair<Placement, Placement>> moves;
  for (size_t i = 0; i < all.size() * all.size(); i += every)
    moves.emplace_back(all[i / all.size()], all[i % all.size()]);
  constexpr size_t kAtOnce = 50;
  for (size_t start = 0; start < moves.size(); start += kAtOnce) {
    const auto some = std::span(moves).subspan(start, std::min(kAtOnce, moves.size() - start));
    Graph g;
    std::vector<Value> outputs;
    for (const auto& [from, to] : some)
      outputs.push_back(redistribute(g.input(x.type(), "x", from), {DType::F64, dims}, {to, std::nullopt, true}));
    g.set_outputs(outputs);
    const auto results = run(make_program(g, mesh, {}), std::vector<HostTensor>(some.size(), x));
    for (size_t i = 0; i < results.size(); ++i) {
      for (const auto& whole : results[i])
        expect_close(whole, expected, 1e-14, to_string(some[i].first) + " to " + to_string(some[i].second));
    }
  }
}

TEST(Redistribute, MovesFromEveryPlacementToEveryOther) { expect_all_moves(Mesh({{"a", 2}, {"b", 2}}), {24, 16}, 1); }

TEST(Redistribute, PadsAndCutsBetweenAnyPlacements) {
  expect_all_moves(Mesh({{"a", 2}, {"b", 2}}), {28, 16}, 3);
  expect_all_moves(Mesh({{"a", 2}, {"b", 2}}), {20, 20}, 5);
}

TEST(Redistribute, KeepsTheOrderOfThreeAxes) {
  expect_all_moves(Mesh({{"a", 2}, {"one", 1}, {"b", 2}, {"c", 2}}), {24, 16}, 1201);
}

TEST(Localise, AnIotaIsTheSameWhereverItIsMade) {
  const Mesh mesh({{"a", 2}, {"b", 2}});
  Graph g;
  std::vector<Value> outputs;
  std::vector<std::vector<double>> expected;
  for (const Placement& p : {Placement{shard(0), shard(0)}, {shard(1), shard(0)}, {replicate(), shard(1)}}) {
    for (int64_t dim : {0, 1}) {
      for (DType dtype : {DType::S32, DType::U32, DType::F32}) {
        outputs.push_back(redistribute(iota(g, {dtype, {8, 4}}, dim), p));
        expected.emplace_back();
        for (int64_t i = 0; i < 32; ++i) expected.back().push_back(static_cast<double>(dim == 0 ? i / 4 : i % 4));
      }
    }
  }
  g.set_outputs(outputs);
  const auto results = run(make_program(g, mesh, {}), {});
  for (size_t i = 0; i < results.size(); ++i) {
    for (const auto& whole : results[i]) EXPECT_EQ(whole, expected[i]) << i;
  }
}

// A model in small: a table of ten rows stored as twelve, and three residual layers whose weights are stacked.
//   B batch, S sequence, D width, H hidden width
struct Scheme {
  std::string name;
  Mesh mesh;
  Placement tokens_BS, table_VD, up_LHD, down_LDH;  // as they are stored
  Placement up_HD, down_DH;                         // as they are used
  Placement h_BSD;                                  // between layers
};
void PrintTo(const Scheme& l, std::ostream* out) { *out << l.name; }

std::vector<Scheme> schemes() {
  const AxisPlacement r = replicate(), s0 = shard(0), s1 = shard(1), s2 = shard(2);
  return {
      {"DDP", Mesh({{"dp", 4}}), {s0}, {r}, {r}, {r}, {r}, {r}, {s0}},
      {"FSDP", Mesh({{"dp", 4}}), {s0}, {s0}, {s1}, {s1}, {r}, {r}, {s0}},
      {"HSDP", Mesh({{"dp", 2}, {"fs", 2}}), {s0, s0}, {r, s0}, {r, s1}, {r, s1}, {r, r}, {r, r}, {s0, s0}},
      {"TP", Mesh({{"tp", 4}}), {r}, {r}, {s1}, {s2}, {s0}, {s1}, {r}},
      {"SequenceParallel", Mesh({{"tp", 2}}), {r}, {r}, {s1}, {s2}, {s0}, {s1}, {s1}},
      {"FSDPxTP", Mesh({{"dp", 2}, {"tp", 2}}), {s0, r}, {s0, r}, {s1, s1}, {s1, s2}, {r, s0}, {r, s1}, {s0, r}},
      {"HSDPxSP",
       Mesh({{"dp", 2}, {"fs", 2}, {"tp", 2}}),
       {s0, s0, r},
       {r, s0, s0},
       {r, s1, s1},
       {r, s1, s2},
       {r, r, s0},
       {r, r, s1},
       {s0, s0, s1}},
  };
}

Value linear(Value x, Value w) { return dot(x, w, {{}, {}, {x.rank() - 1}, {1}}); }

Value loss_of(Value tokens, const std::vector<Value>& parameters, const Scheme& l) {
  const Value table = redistribute(parameters[0], {DType::F64, {10, 8}}, {replicated(l.mesh), std::nullopt, false});
  const Value h = redistribute(gather(table, tokens), l.h_BSD);
  const auto layer = [&](Graph&, const ScanOperands& in) {
    const Value up = redistribute(in.xs[0], in.xs[0].type(), {l.up_HD, std::nullopt, false});
    const Value down = redistribute(in.xs[1], in.xs[1].type(), {l.down_DH, std::nullopt, false});
    const Value x = in.carries[0];
    return ScanResults{{add(x, redistribute(linear(tanh(linear(x, up)), down), l.h_BSD))}, {}};
  };
  const Value last = scan(*h.graph, 3, {{}, {h}, {parameters[1], parameters[2]}}, layer).carries[0];
  return redistribute(reduce_sum(multiply(last, last), {0, 1, 2}), replicated(l.mesh));
}

// Loss and gradients, summed over two microbatches inside the program.
Program step(const Scheme& l, const RematPolicy& remat) {
  Graph g;
  const Value tokens = g.input({DType::S32, {2, 8, 4}}, "tokens", Placement{});
  const std::vector<Value> parameters = {g.input({DType::F64, {12, 8}}, "table", l.table_VD),
                                         g.input({DType::F64, {3, 16, 8}}, "up", l.up_LHD),
                                         g.input({DType::F64, {3, 8, 16}}, "down", l.down_LDH)};
  ScanOperands operands{parameters, {splat(g, {DType::F64, {}}, 0)}, {tokens}};
  for (const Value& p : parameters) operands.carries.push_back(splat(g, p.type(), 0));
  const auto microbatch = [&](Graph&, const ScanOperands& in) {
    const Value loss = loss_of(redistribute(in.xs[0], l.tokens_BS), in.consts, l);
    const auto gradient = gradients(loss, in.consts, remat);
    ScanResults out{{add(in.carries[0], loss)}, {}};
    for (size_t i = 0; i < gradient.size(); ++i) out.carries.push_back(add(in.carries[i + 1], *gradient[i]));
    return out;
  };
  g.set_outputs(scan(g, 2, operands, microbatch).carries);
  return make_program(g, l.mesh, {});
}

class Step : public testing::TestWithParam<Scheme> {};

TEST_P(Step, GivesTheLossAndGradientsOfOneDevice) {
  const std::vector<HostTensor> inputs = {sample_tensor({2, 8, 4}, 1, 0, 10, DType::S32), sample_tensor({12, 8}, 2),
                                          sample_tensor({3, 16, 8}, 3, -0.3, 0.3),
                                          sample_tensor({3, 8, 16}, 4, -0.3, 0.3)};
  static const auto expected = run(step(Scheme{}, {}), inputs);
  for (const RematPolicy& remat : {RematPolicy{}, RematPolicy{RematPolicy::Kind::Full, {}}}) {
    const Program program = step(GetParam(), remat);
    EXPECT_EQ(program.outputs[1].placement, GetParam().table_VD);
    EXPECT_EQ(program.outputs[2].placement, GetParam().up_LHD);
    EXPECT_EQ(program.outputs[3].placement, GetParam().down_LDH);
    const auto results = run(program, inputs);
    for (size_t i = 0; i < results.size(); ++i) {
      for (const auto& whole : results[i]) expect_close(whole, expected[i][0], 1e-13, fmt::format("output {}", i));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Placement, Step, testing::ValuesIn(schemes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tethys
