#include "transforms/propagate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "ops/collective/collective.h"
#include "ops/control/barrier.h"
#include "ops/control/checkpoint.h"
#include "ops/control/redistribute.h"
#include "ops/control/scan.h"
#include "ops/control/while_loop.h"
#include "ops/dot/dot.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/convert.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "transforms/grad.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Mesh kFour({{"dp_shard", 4}});
const Mesh kTp({{"tp", 2}});
const Mesh kHybrid({{"dp_replicate", 2}, {"dp_shard", 4}});

Value linear(Value x, Value w) { return dot(x, w, {{}, {}, {x.rank() - 1}, {1}}); }

// Where the outputs of `g` lie after propagation, and how many redistributions that took.
struct Placed {
  std::vector<std::string> outputs;
  int moves = 0;
  std::vector<std::string> notes;
};
Placed place(Graph& g, const Mesh& mesh, const std::vector<Value>& outputs) {
  g.set_outputs(outputs);
  Placed placed;
  const auto result = propagate(g, mesh, &placed.notes);
  verify(*result);
  for (ValueId v : result->outputs()) placed.outputs.push_back(to_string(*result->info(v).placement));
  for (NodeId n = 0; n < result->node_count(); ++n) placed.moves += result->node(n).op == &redistribute_op ? 1 : 0;
  return placed;
}

// The weight is stored cut, gathered for use, and its gradient, a sum over the devices, goes back to where it is
// stored.
TEST(Propagate, FullyShardedLinearGathersForwardAndScattersBackward) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  const Value w = g.input({DType::F32, {12, 6}}, "w", Placement{shard(0)});
  const Value y = linear(x, redistribute(w, {replicate()}));
  const Value loss = reduce_sum(y, {0, 1});
  const auto gradient = gradients(loss, std::vector<Value>{w}, {});
  g.set_outputs({loss, *gradient[0]});
  EXPECT_EQ(to_string(*propagate(g, kFour)), R"(%0 = input() {"x"} : f32[8,6](S(0))
%1 = input() {"w"} : f32[12,6](S(0))
%2 = redistribute(%1) {to (R)} : f32[12,6](R)
%3 = dot(%0, %2) {batch []x[] contract [1]x[1]} : f32[8,12](S(0))
%4 = reduce(%3) {sum over [0,1]} : f32[](P(sum))
%5 = splat() {1} : f32[](R)
%6 = broadcast(%5) {dims []} : f32[8,12](R)
%7 = broadcast(%5) {dims []} : f32[8,12](S(0))
%8 = dot(%7, %0) {batch []x[] contract [0]x[0]} : f32[12,6](P(sum))
%9 = redistribute(%8) {to (S(0))} : f32[12,6](S(0))
return %4, %9
)");
}

TEST(Propagate, HybridShardingReducesOverOneAxisAndScattersOverTheOther) {
  Graph g;
  const Value x = g.input({DType::F32, {16, 6}}, "x", Placement{shard(0), shard(0)});
  const Value w = g.input({DType::F32, {12, 6}}, "w", Placement{replicate(), shard(0)});
  const Value y = linear(x, redistribute(w, {replicate(), replicate()}));
  const Value raw = dot(y, x, {{}, {}, {0}, {0}});
  const Placed placed = place(g, kHybrid, {y, raw, redistribute_like(raw, w)});
  EXPECT_THAT(placed.outputs, ElementsAre("(S(0),S(0))", "(P(sum),P(sum))", "(R,S(0))"));
  EXPECT_EQ(placed.moves, 2);
}

// Ten rows over four devices are stored as twelve.
TEST(Propagate, AParameterThatDoesNotDivideIsStoredPaddedAndUsedCut) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  const Value w = g.input({DType::F32, {12, 6}}, "w", Placement{shard(0)});
  const Value used = redistribute(w, {DType::F32, {10, 6}}, {Placement{replicate()}, std::nullopt, false});
  const auto gradient = gradients(reduce_sum(tanh(linear(x, used)), {0, 1}), std::vector<Value>{w}, {});
  g.set_outputs({used, *gradient[0]});
  const auto placed = propagate(g, kFour);
  EXPECT_EQ(to_string(placed->type(placed->outputs()[0])), "f32[10,6]");
  EXPECT_EQ(to_string(placed->type(placed->outputs()[1])), "f32[12,6]");
  EXPECT_EQ(placed->info(placed->outputs()[1]).placement, Placement{shard(0)});
  const Node& last = placed->producer(placed->outputs()[1]);
  EXPECT_EQ(placed->info(last.operands[0]).placement, Placement{partial()}) << "reduced and padded in one step";
}

TEST(Propagate, ColumnThenRowParallelGivesAPartial) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x");
  const Value w1 = g.input({DType::F32, {12, 6}}, "w1", Placement{shard(0)});
  const Value w2 = g.input({DType::F32, {6, 12}}, "w2", Placement{shard(1)});
  const Value hidden = tanh(linear(x, w1));
  const Value out = linear(hidden, w2);
  const Value sum = add(x, out);
  const Placed placed = place(g, kTp, {hidden, out, sum});
  EXPECT_THAT(placed.outputs, ElementsAre("(S(1))", "(P(sum))", "(R)"));
  EXPECT_EQ(placed.moves, 1);
}

// Megatron's rule: of a column-parallel linear the gradient of the input is a sum, that of the weight stays cut.
TEST(Propagate, ColumnParallelBackwardSumsTheInputsGradient) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x");
  const Value w = g.input({DType::F32, {12, 6}}, "w", Placement{shard(0)});
  const Value used = redistribute(x, {replicate()});
  const auto gradient = gradients(reduce_sum(tanh(linear(used, w)), {0, 1}), std::vector<Value>{x, w}, {});
  EXPECT_THAT(place(g, kTp, {*gradient[0], *gradient[1]}).outputs, ElementsAre("(R)", "(S(0))"));
}

// Sequence parallel: the row-parallel sum meets a residual that is cut, and is scattered to it.
TEST(Propagate, APartialIsScatteredToWhereTheOtherOperandLies) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  const Value p = g.input({DType::F32, {8, 6}}, "p", Placement{partial()});
  g.set_outputs({add(p, x)});
  EXPECT_EQ(to_string(*propagate(g, kTp)), R"(%0 = input() {"x"} : f32[8,6](S(0))
%1 = input() {"p"} : f32[8,6](P(sum))
%2 = redistribute(%1) {to (S(0))} : f32[8,6](S(0))
%3 = add(%2, %0) : f32[8,6](S(0))
return %3
)");
}

TEST(Propagate, ADisagreementIsSettledByBytesThenByOrder) {
  Graph g;
  const Value a = g.input({DType::F32, {8, 8}}, "a", Placement{shard(0)});
  const Value b = g.input({DType::F32, {8, 8}}, "b", Placement{shard(1)});
  const Value wide = g.input({DType::F32, {16, 8}}, "wide", Placement{shard(0)});
  EXPECT_THAT(place(g, kFour, {add(a, b), add(b, a), linear(a, wide), linear(wide, a)}).outputs,
              ElementsAre("(S(0))", "(S(1))", "(S(1))", "(S(0))"));
}

TEST(Propagate, MergedAndSplitDimensionsStayCutAtTheirMajorFactor) {
  Graph g;
  const Value x = g.input({DType::F32, {4, 2, 3}}, "x", Placement{shard(0)});
  const Value y = g.input({DType::F32, {8, 3}}, "y", Placement{shard(0)});
  const Value minor = g.input({DType::F32, {2, 4, 3}}, "minor", Placement{shard(1)});
  const Placed placed =
      place(g, kFour, {reshape(x, {8, 3}), reshape(y, {4, 2, 3}), reshape(y, {2, 4, 3}), reshape(minor, {8, 3})});
  EXPECT_THAT(placed.outputs, ElementsAre("(S(0))", "(S(0))", "(R)", "(R)"));
  EXPECT_THAT(
      placed.notes,
      ElementsAre("reshape: operand 0 f32[8,3](S(0)) is made whole over dp_shard: 2 does not divide by 4",
                  "reshape: operand 0 f32[2,4,3](S(1)) is made whole over dp_shard: dimension 1 must be whole"));
}

TEST(Propagate, OneFactorIsCutByTwoAxesWhileItDivides) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 3}}, "x", Placement{shard(0), shard(0)});
  const Placed placed = place(g, kHybrid, {reshape(x, {8, 3, 1}), reshape(x, {2, 4, 3})});
  EXPECT_THAT(placed.outputs, ElementsAre("(S(0),S(0))", "(S(0),R)"));
  EXPECT_THAT(placed.notes, ElementsAre(HasSubstr("is made whole over dp_shard: 2 does not divide by 8")));
}

TEST(Propagate, PartialPassesWhatIsLinearAndNothingElse) {
  Graph g;
  const TensorType type{DType::F32, {8, 8}};
  const Value p = g.input(type, "p", Placement{partial()});
  const Value q = g.input(type, "q", Placement{partial()});
  const Value r = g.input(type, "r");
  const Value zero = splat(g, type, 0);
  const Value one = splat(g, type, 1);
  const Placed placed = place(
      g, kTp,
      {add(p, q), add(p, r), add(p, zero), add(one, p), multiply(p, r), multiply(one, p), multiply(p, q),
       multiply(p, p), divide(p, r), divide(r, p), tanh(p), convert(p, DType::F64), convert(p, DType::BF16),
       pad(p, splat(g, {DType::F32, {}}, 0), {1, 0}, {0, 0}), pad(p, splat(g, {DType::F32, {}}, 1), {1, 0}, {0, 0}),
       reduce_sum(p, {0}), reduce(p, Reduction::Max, {0}), optimization_barrier(std::vector<Value>{p, r})[0]});
  EXPECT_THAT(placed.outputs,
              ElementsAre("(P(sum))", "(R)", "(P(sum))", "(R)", "(P(sum))", "(P(sum))", "(R)", "(R)", "(P(sum))", "(R)",
                          "(R)", "(P(sum))", "(R)", "(P(sum))", "(R)", "(P(sum))", "(R)", "(P(sum))"));
  EXPECT_EQ(placed.moves, 2) << "p and q are each resolved once";
}

TEST(Propagate, AMaximumOverACutDimensionIsResolvedBeforeItIsUsed) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 8}}, "x", Placement{shard(1)});
  const Value highest = reduce(x, Reduction::Max, {1});
  EXPECT_THAT(place(g, kTp, {highest, negate(highest), transpose(broadcast(highest, {8, 2}, {0}), {1, 0})}).outputs,
              ElementsAre("(P(max))", "(R)", "(R)"));
}

TEST(Propagate, GeneratorsAreMadeWhereTheyAreRead) {
  Graph g;
  const TensorType type{DType::F32, {8, 8}};
  const Value x = g.input(type, "x", Placement{shard(1)});
  const Value counted = iota(g, type, 1);
  const Value cut = redistribute(iota(g, type, 0), {shard(0)});
  const Placed placed = place(g, kFour, {add(x, counted), multiply(cut, cut), add(counted, counted), counted});
  EXPECT_THAT(placed.outputs, ElementsAre("(S(1))", "(S(0))", "(R)", "(R)"));
  EXPECT_EQ(placed.moves, 0);
}

// One device: a broadcast of which a part is read is made as that part.
TEST(Propagate, AWholeBroadcastIsMadeAgainAsAPart) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  const Value bias = g.input({DType::BF16, {6}}, "bias");
  const Value scale = g.input({DType::BF16, {8}}, "scale");
  const Value rows = broadcast(convert(bias, DType::F32), {8, 6}, {1});
  const Value columns = broadcast(convert(scale, DType::F32), {8, 6}, {0});
  g.set_outputs({add(x, rows), multiply(x, columns)});
  EXPECT_THAT(to_string(*propagate(g, kFour)), AllOf(HasSubstr("= broadcast(%3) {dims [1]} : f32[8,6](S(0))"),
                                                     HasSubstr("= redistribute(%2) {to (S(0))} : bf16[8](S(0))")));
}

TEST(Propagate, ARedistributeToWhereTheValueLiesDisappears) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  EXPECT_EQ(place(g, kFour, {redistribute(x, {shard(0)}), redistribute_like(x, x)}).moves, 0);
}

TEST(Propagate, LikeAPartialMeansWhole) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  const Value p = g.input({DType::F32, {8, 6}}, "p", Placement{partial()});
  const Value zero = splat(g, {DType::F32, {8, 6}}, 0);
  EXPECT_THAT(place(g, kFour, {redistribute_like(x, p), redistribute_like(x, zero)}).outputs,
              ElementsAre("(R)", "(R)"));
}

TEST(Propagate, AnAccumulatorOfZerosBecomesPartial) {
  Graph g;
  const Value xs = g.input({DType::F32, {3, 8, 6}}, "xs", Placement{shard(1)});
  const Value zeros = splat(g, {DType::F32, {6, 6}}, 0);
  const ScanResults out = scan(g, 3, {{}, {zeros}, {xs}}, [](Graph&, const ScanOperands& in) {
    const Value x = in.xs[0];
    return ScanResults{{add(in.carries[0], dot(x, x, {{}, {}, {0}, {0}}))}, {tanh(x)}};
  });
  g.set_outputs({out.carries[0], out.ys[0]});
  EXPECT_EQ(to_string(*propagate(g, kFour)), R"(%0 = input() {"xs"} : f32[3,8,6](S(1))
%1 = splat() {0} : f32[6,6](P(sum))
%2, %3 = scan(%1, %0) {length 3 consts 0 carries 1} : f32[6,6](P(sum)), f32[3,8,6](S(1))
  %0 = input() {"carry0"} : f32[6,6](P(sum))
  %1 = input() {"x0"} : f32[8,6](S(0))
  %2 = dot(%1, %1) {batch []x[] contract [0]x[0]} : f32[6,6](P(sum))
  %3 = add(%0, %2) : f32[6,6](P(sum))
  %4 = tanh(%1) : f32[8,6](S(0))
  return %3, %4
return %2, %3
)");
}

TEST(Propagate, ACarryComesOutWhereItWentIn) {
  Graph g;
  const Value h = g.input({DType::F32, {8, 6}}, "h");
  const Value xs = g.input({DType::F32, {4, 8, 6}}, "xs", Placement{shard(0)});
  const Value cut = g.input({DType::F32, {8, 6}}, "cut", Placement{shard(0)});
  const ScanResults out = scan(g, 4, {{cut}, {h}, {xs}}, [](Graph&, const ScanOperands& in) {
    return ScanResults{{multiply(add(in.carries[0], in.xs[0]), in.consts[0])}, {}};
  });
  g.set_outputs(out.carries);
  EXPECT_EQ(to_string(*propagate(g, kFour)), R"(%0 = input() {"h"} : f32[8,6](R)
%1 = input() {"xs"} : f32[4,8,6](S(0))
%2 = input() {"cut"} : f32[8,6](S(0))
%3 = redistribute(%1) {to (R)} : f32[4,8,6](R)
%4 = scan(%2, %0, %3) {length 4 consts 1 carries 1} : f32[8,6](R)
  %0 = input() {"const0"} : f32[8,6](S(0))
  %1 = input() {"carry0"} : f32[8,6](R)
  %2 = input() {"x0"} : f32[8,6](R)
  %3 = add(%1, %2) : f32[8,6](R)
  %4 = redistribute(%3) {to (S(0))} : f32[8,6](S(0))
  %5 = multiply(%4, %0) : f32[8,6](S(0))
  %6 = redistribute(%5) {to (R)} : f32[8,6](R)
  return %6
return %4
)");
}

// A sum that goes in and is used up by the first iteration is resolved once, outside.
TEST(Propagate, APartialCarryThatAnIterationResolvesGoesInResolved) {
  Graph g;
  const Value h = g.input({DType::F32, {8, 6}}, "h", Placement{partial()});
  const ScanResults out = scan(g, 4, {{}, {h}, {}}, [](Graph&, const ScanOperands& in) {
    return ScanResults{{tanh(in.carries[0])}, {}};
  });
  const Placed placed = place(g, kFour, out.carries);
  EXPECT_THAT(placed.outputs, ElementsAre("(R)"));
  EXPECT_EQ(placed.moves, 1);
}

TEST(Propagate, AScanOverZerosMakesThemInside) {
  Graph g;
  const Value p = g.input({DType::F32, {8, 6}}, "p", Placement{partial()});
  const Value zeros = splat(g, {DType::F32, {4, 8, 6}}, 0);
  const ScanResults out = scan(g, 4, {{p}, {}, {zeros}}, [](Graph&, const ScanOperands& in) {
    return ScanResults{{}, {add(in.consts[0], in.xs[0])}};
  });
  EXPECT_THAT(place(g, kFour, out.ys).outputs, ElementsAre("(P(sum))"));
}

TEST(Propagate, ACheckpointIsPlacedLikeItsContents) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x", Placement{shard(0)});
  const Value w = g.input({DType::F32, {12, 6}}, "w");
  const auto out = checkpoint(g, {x, w}, [](Graph&, const std::vector<Value>& in) {
    const Value y = linear(in[0], in[1]);
    return std::vector<Value>{y, reduce_sum(y, {0})};
  });
  EXPECT_THAT(place(g, kFour, out).outputs, ElementsAre("(S(0))", "(P(sum))"));
}

TEST(Propagate, ALoopWithAConditionIsWholeEverywhere) {
  Graph g;
  const Value count = g.input({DType::S32, {}}, "count");
  const Value x = g.input({DType::F32, {8}}, "x", Placement{shard(0)});
  const auto out = while_loop(
      {count, x},
      [](Graph& region, const std::vector<Value>& s) {
        return std::vector<Value>{less(s[0], splat(region, s[0].type(), 5))};
      },
      [](Graph& region, const std::vector<Value>& s) {
        return std::vector<Value>{add(s[0], splat(region, s[0].type(), 1)), tanh(s[1])};
      });
  EXPECT_THAT(place(g, kFour, out).outputs, ElementsAre("(R)", "(R)"));
}

TEST(Propagate, OnOneDeviceNothingMoves) {
  Graph g;
  const Value x = g.input({DType::F32, {8, 6}}, "x");
  const Value w = g.input({DType::F32, {12, 6}}, "w");
  const Placed placed = place(g, Mesh(), {linear(x, redistribute_like(w, w)), redistribute(x, Placement{})});
  EXPECT_THAT(placed.outputs, ElementsAre("()", "()"));
  EXPECT_EQ(placed.moves, 0);
}

TEST(Propagate, RefusesTargetsThatDoNotFit) {
  auto refusal = [](Placement target) {
    Graph g;
    g.set_scope("layers.0.wq");
    g.set_outputs({redistribute(g.input({DType::F32, {10, 6}}, "w"), std::move(target))});
    try {
      propagate(g, kFour);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(
      refusal({shard(0)}),
      "redistribute of f32[10,6] to (S(0)): dimension 0 does not divide into 4 parts on mesh dp_shard=4; 12 would; "
      "in layers.0.wq");
  EXPECT_EQ(refusal({shard(2)}), "redistribute of f32[10,6] to (S(2)): there is no dimension 2; in layers.0.wq");
  EXPECT_EQ(refusal({shard(0), shard(0)}),
            "redistribute to (S(0),S(0)): expected one entry for each axis of mesh dp_shard=4; in layers.0.wq");
}

TEST(Propagate, RefusesOpsOfADeviceProgram) {
  Graph g;
  g.set_outputs({all_reduce(g.input({DType::F32, {8}}, "x"), kFour, {0}, Reduction::Sum)});
  EXPECT_THROW(propagate(g, kFour), InternalError);
}

// A deep unrolled model is recorded as tens of thousands of nodes.
TEST(Propagate, PlacesThirtyThousandNodesInSeconds) {
  const Mesh mesh({{"dp_replicate", 8}, {"dp_shard", 8}, {"tp", 8}});
  Graph g;
  Value x = g.input({DType::F32, {64, 64, 64}}, "x", Placement{shard(0), shard(0), replicate()});
  const Value w = g.input({DType::F32, {64, 64}}, "w", Placement{replicate(), shard(0), shard(1)});
  for (int layer = 0; layer < 6000; ++layer) {
    const Value used = redistribute(w, {replicate(), replicate(), shard(1)});
    x = redistribute(linear(tanh(x), used), {shard(0), shard(0), replicate()});
    x = add(x, multiply(x, x));
  }
  g.set_outputs({x});
  const auto start = std::chrono::steady_clock::now();
  propagate(g, mesh);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 4);
}

}  // namespace
}  // namespace tethys
