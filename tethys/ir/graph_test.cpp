#include "ir/graph.h"

#include <gtest/gtest.h>

#include "ir/testing.h"

namespace tethys {
namespace {

using namespace ir_testing;

const TensorType kF4{DType::F32, {4}};

TEST(Graph, IsAnArenaInTheOrderOfRecording) {
  Graph g;
  const Value x = g.input(kF4, "x");
  const Value y = g.append(sum_op, {}, {x, x})[0];
  g.set_outputs({y});
  EXPECT_EQ(g.node_count(), 2);
  EXPECT_EQ(g.inputs(), std::vector<ValueId>{x.id});
  EXPECT_EQ(g.outputs(), std::vector<ValueId>{y.id});
  EXPECT_EQ(g.producer(y.id).op, &sum_op);
  EXPECT_EQ(y.type(), kF4);
}

TEST(Graph, PrintsANodePerLineWithItsRegionsBelow) {
  Graph g;
  const Value x = g.input(kF4, "x", Placement{shard(0)});
  const auto region = std::make_shared<Graph>();
  const Value inner = region->input(kF4, "inner");
  region->set_outputs(region->append(times_op, Times{3}, {inner}));
  const Value y = g.append(call_op, {}, {x}, {region})[0];
  g.set_tag(y, "q");
  g.set_outputs({y, x});
  EXPECT_EQ(to_string(g),
            "%0 = input() {\"x\"} : f32[4](S(0))\n"
            "%1 = call(%0) : f32[4] \"q\"\n"
            "  %0 = input() {\"inner\"} : f32[4]\n"
            "  %1 = times(%0) {factor 3} : f32[4]\n"
            "  return %1\n"
            "return %1, %0\n");
}

TEST(Graph, ErrorsOfInferenceNameTheOpAndTheModule) {
  Graph g;
  const Value x = g.input(kF4, "x");
  const Value z = g.input({DType::F32, {5}}, "z");
  const Scope layer(g, "layers.0");
  const Scope attention(g, "attention");
  EXPECT_EQ(bug([&] {
              g.append(sum_op, {}, {x, z});
            }),
            "sum: operands differ: f32[4] and f32[5]; in layers.0.attention");
}

TEST(Graph, ValuesOfAnotherGraphAreRefused) {
  Graph g, other;
  const Value x = other.input(kF4, "x");
  EXPECT_EQ(bug([&] { g.append(sum_op, {}, {x}); }),
            "sum: an operand belongs to another graph; captures of a region are passed as operands");
  EXPECT_EQ(bug([&] { g.set_outputs({x}); }), "an output belongs to another graph");
}

TEST(Graph, AScopeEndsWithItsObject) {
  Graph g;
  {
    const Scope scope(g, "norm");
    EXPECT_EQ(g.scope(), "norm");
  }
  EXPECT_EQ(g.scope(), "");
}

TEST(Graph, AnObjectIsBoundToOneValue) {
  Graph g;
  const Value x = g.input(kF4, "x");
  const int parameter = 0;
  EXPECT_EQ(g.bound(&parameter), std::nullopt);
  g.bind(&parameter, x);
  EXPECT_EQ(g.bound(&parameter), x);
}

TEST(Graph, ExtendedNodesKeepTheirOldResults) {
  Graph g;
  const Value x = g.append(source_op, {}, {}, {}, {kF4})[0];
  const Value y = g.append(sum_op, {}, {x})[0];
  g.extend(0, {}, {}, {{DType::S32, {}}});
  EXPECT_EQ(g.node(0).results, (std::vector<ValueId>{x.id, y.id + 1}));
  EXPECT_EQ(to_string(g.type(y.id + 1)), "s32[]");
  EXPECT_EQ(g.info(y.id + 1).result, 1);
}

// Counts what an observer hears.
struct Counter : GraphObserver {
  std::vector<NodeId> nodes;
  std::vector<ValueId> gone;
  void appended(Graph&, NodeId node) override { nodes.push_back(node); }
  HostTensor read(const Value&) override { return {}; }
  void dropped(const Value& value) override { gone.push_back(value.id); }
};

TEST(Graph, AnObserverHearsOfNodesAndOfTheLastHandle) {
  Graph g;
  Counter counter;
  g.set_observer(&counter);
  const Value x = g.input(kF4, "x");  // inputs are no news
  g.append(sum_op, {}, {x});
  g.add_handle(x.id);
  g.add_handle(x.id);
  g.drop_handle(x.id);
  EXPECT_TRUE(counter.gone.empty());
  g.drop_handle(x.id);
  EXPECT_EQ(counter.nodes, std::vector<NodeId>{1});
  EXPECT_EQ(counter.gone, std::vector<ValueId>{x.id});
}

TEST(Verify, AcceptsWhatAppendMade) {
  Graph g;
  const Value x = g.input(kF4, "x");
  g.set_outputs(g.append(sum_op, {}, {x, x}));
  EXPECT_EQ(bug([&] { verify(g); }), "no error");
}

TEST(Verify, FindsResultsThatInferenceDoesNotGiveAlsoInRegions) {
  const auto broken = std::make_shared<Graph>();
  const Value x = broken->input(kF4, "x");
  broken->set_outputs(broken->append(sum_op, {}, {x}));
  broken->extend(1, {}, {}, {kF4});
  EXPECT_EQ(bug([&] { verify(*broken); }), "node 1 (sum) has result types that inference does not give");
  Graph outer;
  outer.append(call_op, {}, {}, {broken});
  EXPECT_EQ(bug([&] { verify(outer); }), "node 1 (sum) has result types that inference does not give");
}

}  // namespace
}  // namespace tethys
