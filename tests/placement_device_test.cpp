// Placed programs on virtual devices: every redistribution, and whole steps against the same step on one device.
#include <gtest/gtest.h>

#include <span>

#include "ops/control/redistribute.h"
#include "ops/registry.h"
#include "ops/samples.h"
#include "placement_testing.h"

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

}  // namespace
}  // namespace tethys
