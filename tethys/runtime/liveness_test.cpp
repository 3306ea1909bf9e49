#include "runtime/liveness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/tensor.h"

namespace tethys {
namespace {

// Hears what a graph says, and remembers whose data is still there.
class Memory : public GraphObserver {
 public:
  explicit Memory(Graph& graph) : graph_(graph), liveness_(graph) { graph.set_observer(this); }
  ~Memory() override { graph_.set_observer(nullptr); }

  void appended(Graph& graph, NodeId node) override {
    liveness_.appended(node);
    for (ValueId v : graph.node(node).results) there_.insert(v);
  }
  HostTensor read(const Value&) override { return {}; }
  void dropped(const Value& value) override {
    for (ValueId v : liveness_.dropped(value.id)) there_.erase(v);
  }
  const std::set<ValueId>& there() const { return there_; }
  Liveness& liveness() { return liveness_; }

 private:
  Graph& graph_;
  Liveness liveness_;
  std::set<ValueId> there_;
};

const TensorType kF4{DType::F32, {4}};

TEST(Liveness, WhatNoVjpReadsGoesWithItsLastHandle) {
  Graph g;
  Memory memory(g);
  Tensor y = g.input(kF4, "x");
  for (int i = 0; i < 10; ++i) y = negate(y);
  EXPECT_EQ(memory.there(), std::set<ValueId>{y.value().id});
}

TEST(Liveness, WhatAVjpReadsStaysWhileAGradientMayComeToIt) {
  Graph g;
  Memory memory(g);
  const Tensor x = g.input(kF4, "x");
  Tensor y = tanh(tanh(tanh(x)));  // each vjp reads its result
  EXPECT_EQ(memory.there().size(), 3U);
  const Tensor end = negate(y);
  y = x;
  EXPECT_EQ(memory.there().size(), 4U);
}

TEST(Liveness, AChainGoesWholeWhenItsEndIsDropped) {
  Graph g;
  Memory memory(g);
  const Tensor x = g.input(kF4, "x");
  {
    const Tensor y = tanh(tanh(x));
    const Tensor z = y * y;
    EXPECT_EQ(memory.there().size(), 3U);
  }
  EXPECT_TRUE(memory.there().empty());
}

TEST(Liveness, OneOfTwoBranchesKeepsOnlyWhatItReads) {
  Graph g;
  Memory memory(g);
  const Tensor x = g.input(kF4, "x");
  const Tensor shared = tanh(x);
  const Tensor kept = negate(shared);
  { const Tensor dropped = tanh(shared); }
  EXPECT_EQ(memory.there(), (std::set<ValueId>{shared.value().id, kept.value().id}));
}

TEST(Liveness, WithoutAGradientNothingIsRead) {
  Graph g;
  Memory memory(g);
  Tensor n = g.input({DType::S32, {4}}, "n");
  for (int i = 0; i < 10; ++i) n = n * n;
  EXPECT_EQ(memory.there(), std::set<ValueId>{n.value().id});
}

TEST(Liveness, PlainValuesStayAndKeepWhatTheirVjpsRead) {
  Graph g;
  Memory memory(g);
  const Value x = g.input(kF4, "x");
  const Value y = tanh(x);
  Value z;
  {
    const Tensor t = tanh(Tensor(y));
    z = negate(t.value());
  }
  EXPECT_EQ(memory.there().size(), 3U);  // t too: the gradient of z reads it
  EXPECT_TRUE(memory.liveness().needed(z.id));
}

TEST(Liveness, InputsAreNeverFreed) {
  Graph g;
  Memory memory(g);
  { const Tensor x = g.input(kF4, "x"); }
  EXPECT_TRUE(memory.liveness().dropped(0).empty());
}

}  // namespace
}  // namespace tethys
