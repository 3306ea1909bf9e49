#include "transforms/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/control/scan.h"
#include "ops/control/to_memory.h"
#include "ops/registry.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TensorType kVector{DType::F32, {4}};
const TensorType kStack{DType::F32, {3, 4}};

Localised as_it_is(const std::shared_ptr<Graph>& graph) { return {graph, graph, {}}; }

std::vector<TensorType> types_of(const std::vector<Port>& ports) {
  std::vector<TensorType> types;
  for (const Port& port : ports) types.push_back(port.type);
  return types;
}

// h ← tanh(h · w) for each w, from −x; its outputs are Σ of the last h, all h, and all h once more, for the host.
std::shared_ptr<Graph> forward(Memory memory) {
  auto graph = std::make_shared<Graph>();
  const Value x = graph->input(kVector, "x"), w = graph->input(kStack, "w");
  const ScanResults loop = scan(*graph, 3, {{}, {negate(x)}, {w}}, [&](Graph&, const ScanOperands& in) {
    const Value h = tanh(multiply(in.carries[0], in.xs[0]));
    return ScanResults{{h}, {h, to_memory(h, memory)}};
  });
  graph->set_outputs({exponential(loop.carries[0]), loop.ys[0], loop.ys[1]});
  return graph;
}

// Σ h · h, from the last.
std::shared_ptr<Graph> backward() {
  auto graph = std::make_shared<Graph>();
  const Value h = graph->input(kStack, "h");
  const Value zero = splat(*graph, kVector, 0);
  const ScanResults loop = scan(
      *graph, 3, {{}, {zero}, {h}},
      [](Graph&, const ScanOperands& in) {
        return ScanResults{{add(in.carries[0], multiply(in.xs[0], in.xs[0]))}, {}};
      },
      /*reverse=*/true);
  graph->set_outputs({loop.carries[0]});
  return graph;
}

TEST(Stages, ALoopWhoseSlicesAreStreamedIsAProgramOfItsOwn) {
  const auto first = forward(Memory::Host), second = backward();
  const Streams streams = find_streams(*first, {2}, *second, {0});
  EXPECT_THAT(streams.outputs, ElementsAre(2));
  EXPECT_THAT(streams.inputs, ElementsAre(0));

  const Stages stages = stages_of(as_it_is(first), Mesh(), {}, {streams.outputs, {}});
  ASSERT_EQ(stages.list.size(), 3u);  // −x, the loop, exp
  EXPECT_EQ(stages.inputs.size(), 2u);
  EXPECT_THAT(types_of(stages.output_ports), ElementsAre(kVector, kStack));
  const Loop& loop = std::get<Loop>(stages.list[1]);
  EXPECT_EQ(loop.length, 3);
  EXPECT_FALSE(loop.reverse);
  EXPECT_THAT(loop.streams_out, ElementsAre(0));
  // The index, the carry, the stack of all h, w; the two that are written over come back in their own memory.
  EXPECT_THAT(types_of(loop.body.inputs), ElementsAre(TensorType{DType::S32, {}}, kVector, kStack, kStack));
  EXPECT_THAT(types_of(loop.body.outputs), ElementsAre(kVector, kStack, kVector));
  EXPECT_THAT(loop.body.aliases, ElementsAre(-1, 0, 1, -1));
  EXPECT_THAT(types_of(loop.begin.program.outputs), ElementsAre(kVector, kStack));
  const auto& before = std::get<Straight>(stages.list[0]);
  EXPECT_EQ(before.gives, loop.begin.takes);
  EXPECT_THAT(stages.last[1], testing::Contains(before.gives[0]));
}

TEST(Stages, ABackwardTakesItsSlicesFromTheLast) {
  const auto second = backward();
  const Stages stages = stages_of(as_it_is(second), Mesh(), {}, {{}, {0}});
  ASSERT_EQ(stages.list.size(), 1u);
  EXPECT_THAT(stages.inputs, IsEmpty());
  const Loop& loop = std::get<Loop>(stages.list[0]);
  EXPECT_TRUE(loop.reverse);
  EXPECT_THAT(loop.streams_in, ElementsAre(0));
  EXPECT_THAT(types_of(loop.body.inputs), ElementsAre(TensorType{DType::S32, {}}, kVector, kVector));
  EXPECT_THAT(loop.begin.takes, IsEmpty());  // zeros are made where they are needed
}

TEST(Stages, OnlyWhatIsMarkedForTheHostIsStreamed) {
  EXPECT_THAT(find_streams(*forward(Memory::Device), {2}, *backward(), {0}).outputs, IsEmpty());
  EXPECT_THAT(find_streams(*forward(Memory::Host), {1}, *backward(), {0}).outputs, IsEmpty());
}

TEST(Stages, AStackThatIsReadWholeIsNotStreamed) {
  auto second = std::make_shared<Graph>();
  second->set_outputs({negate(second->input(kStack, "h"))});
  EXPECT_THAT(find_streams(*forward(Memory::Host), {2}, *second, {0}).outputs, IsEmpty());
}

TEST(Stages, WithoutStreamsThereIsOneProgram) {
  const Stages stages = stages_of(as_it_is(forward(Memory::Host)), Mesh(), {});
  ASSERT_EQ(stages.list.size(), 1u);
  const auto& all = std::get<Straight>(stages.list[0]);
  EXPECT_EQ(all.takes, stages.inputs);
  EXPECT_THAT(types_of(all.program.inputs), ElementsAre(kVector, kStack));
  EXPECT_EQ(stages.output_ports.size(), 3u);
}

}  // namespace
}  // namespace tethys
