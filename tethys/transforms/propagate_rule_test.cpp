#include "transforms/propagate_rule.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

// Rows of x [N,D] with each of which goes one of the matrices w [E,D] → [N,D].
Factors chosen(bool exchanged) {
  constexpr int N = 0, D = 1, E = 2;
  Factors f;
  f.factors = {{.kind = FactorKind::Pass, .size = 8, .yields = true},
               {.kind = FactorKind::Replicate, .size = 3},
               {.kind = FactorKind::Reduced, .size = 4, .exchanged = exchanged}};
  f.operands = {{{N}, {D}}, {{E}, {D}}};
  f.results = {{{N}, {D}}, {{E}, {D}}};
  return f;
}

std::string placed(bool exchanged, const Mesh& mesh, const Placement& x, const Placement& w) {
  const NodePlacement where =
      place_node(chosen(exchanged), {{{DType::F32, {8, 3}}, x}, {{DType::F32, {4, 3}}, w}}, mesh);
  std::string text;
  for (const Placement& p : where.operands) text += to_string(p) + " ";
  text += "→";
  for (const Placement& p : where.results) text += " " + to_string(p);
  for (const std::string& note : where.notes) text += "; " + note;
  return text;
}

TEST(PropagateRule, AFactorThatYieldsIsMadeWholeForAnother) {
  const Mesh mesh({{"x", 2}});
  EXPECT_EQ(placed(false, mesh, {shard(0)}, {shard(0)}), "(R) (S(0)) → (P(sum)) (S(0))");
  EXPECT_EQ(placed(false, mesh, {shard(0)}, {replicate()}), "(S(0)) (R) → (S(0)) (R)");
}

TEST(PropagateRule, AnExchangedFactorStaysCutBesideAnother) {
  const Mesh mesh({{"x", 2}});
  EXPECT_EQ(placed(true, mesh, {shard(0)}, {shard(0)}), "(S(0)) (S(0)) → (S(0)) (S(0))");
  EXPECT_EQ(placed(true, mesh, {replicate()}, {shard(0)}), "(R) (S(0)) → (P(sum)) (S(0))");
  EXPECT_EQ(placed(true, mesh, {shard(0)}, {replicate()}), "(S(0)) (R) → (S(0)) (R)");
}

TEST(PropagateRule, AnExchangedFactorIsCutOnlyWhileItDivides) {
  const Mesh mesh({{"x", 2}, {"y", 4}});
  EXPECT_EQ(
      placed(true, mesh, {shard(0), shard(0)}, {shard(0), shard(0)}),
      "(S(0),S(0)) (S(0),R) → (S(0),S(0)) (S(0),R); operand 1 f32[4,3](S(0),S(0)) is made whole over y: 4 does not "
      "divide by 8");
}

}  // namespace
}  // namespace tethys
