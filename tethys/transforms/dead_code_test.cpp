#include "transforms/dead_code.h"

#include <gtest/gtest.h>

#include "ops/control/checkpoint.h"
#include "ops/control/scan.h"
#include "ops/registry.h"

namespace tethys {
namespace {

const TensorType kVector{DType::F32, {4}};
const TensorType kStack{DType::F32, {3, 4}};

std::string live_text(Graph& g, const std::vector<Value>& outputs) {
  g.set_outputs(outputs);
  const auto live = without_dead_code(g);
  verify(*live);
  return to_string(*live);
}

TEST(DeadCode, InputsStayAndUnreadNodesGo) {
  Graph g;
  const Value x = g.input(kVector, "x");
  g.input(kVector, "unread");
  tanh(x);
  EXPECT_EQ(live_text(g, {negate(x)}), R"(%0 = input() {"x"} : f32[4]
%1 = input() {"unread"} : f32[4]
%2 = negate(%0) : f32[4]
return %2
)");
}

// Of three carries the first is returned and reads the second; the third and the first y feed nothing.
TEST(DeadCode, AScanKeepsTheCarriesThatItsResultsNeed) {
  Graph g;
  const Value a = g.input(kVector, "a");
  const Value xs = g.input(kStack, "xs");
  const Value dead_const = exponential(a);
  const Value dead_xs = exponential(xs);
  const ScanResults out = scan(g, 3, {{dead_const, a}, {a, a, a}, {dead_xs, xs}}, [](Graph&, const ScanOperands& in) {
    return ScanResults{{add(in.carries[0], in.carries[1]), multiply(in.carries[1], in.consts[1]),
                        multiply(in.carries[2], in.consts[0])},
                       {tanh(in.xs[0]), negate(in.xs[1])}};
  });
  EXPECT_EQ(live_text(g, {out.carries[0], out.ys[1]}), R"(%0 = input() {"a"} : f32[4]
%1 = input() {"xs"} : f32[3,4]
%2, %3, %4 = scan(%0, %0, %0, %1) {length 3 consts 1 carries 2} : f32[4], f32[4], f32[3,4]
  %0 = input() {"const1"} : f32[4]
  %1 = input() {"carry0"} : f32[4]
  %2 = input() {"carry1"} : f32[4]
  %3 = input() {"x1"} : f32[4]
  %4 = add(%1, %2) : f32[4]
  %5 = multiply(%2, %0) : f32[4]
  %6 = negate(%3) : f32[4]
  return %4, %5, %6
return %2, %4
)");
}

TEST(DeadCode, ACheckpointInsideAScanLosesWhatNobodyReads) {
  Graph g;
  const Value a = g.input(kVector, "a");
  const Value b = g.input(kVector, "b");
  const ScanResults out = scan(g, 3, {{b}, {a}, {}}, [](Graph& region, const ScanOperands& in) {
    const auto both = checkpoint(region, {in.carries[0], in.consts[0]}, [](Graph&, const std::vector<Value>& v) {
      return std::vector<Value>{tanh(v[0]), multiply(v[0], v[1])};
    });
    return ScanResults{{both[0]}, {both[1]}};
  });
  EXPECT_EQ(live_text(g, out.carries), R"(%0 = input() {"a"} : f32[4]
%1 = input() {"b"} : f32[4]
%2 = scan(%0) {length 3 consts 0 carries 1} : f32[4]
  %0 = input() {"carry0"} : f32[4]
  %1 = checkpoint(%0) : f32[4]
    %0 = input() {"in0"} : f32[4]
    %1 = tanh(%0) : f32[4]
    return %1
  return %1
return %2
)");
}

TEST(DeadCode, PlacementsAndTagsGoAlong) {
  Graph g;
  const Value x = g.input(kVector, "x", Placement{shard(0)});
  const Value y = tanh(x);
  g.set_tag(y, "hidden");
  g.set_placement(y.id, Placement{shard(0)});
  EXPECT_EQ(live_text(g, {y}), R"(%0 = input() {"x"} : f32[4](S(0))
%1 = tanh(%0) : f32[4](S(0)) "hidden"
return %1
)");
}

}  // namespace
}  // namespace tethys
