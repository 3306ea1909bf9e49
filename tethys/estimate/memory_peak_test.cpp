#include "estimate/memory_peak.h"

#include <gtest/gtest.h>

#include "hlo/testing.h"

namespace tethys {
namespace {

using hlo::shape;

const hlo::Shape kRow = shape("bf16", {8}), kStack = shape("bf16", {4, 8}), kWeight = shape("f32", {8});

// A step of four layers: a loop that stacks what it reads, the head, and a loop that reads the stack. Arguments are a
// weight and a row; results are the weight and the loss.
struct Step {
  hlo::MadeComputation main{"main"}, forward{"forward"}, backward{"backward"};
  size_t cast = 0, loop = 0, logits = 0, slope = 0, back = 0, again = 0, gradient = 0;

  Step() {
    const hlo::Shape carried = hlo::tuple_of({kRow, kStack, kRow});
    size_t in = forward.parameter(0, carried);
    size_t x = forward.element(in, 0, kRow), stack = forward.element(in, 1, kStack), w = forward.element(in, 2, kRow);
    const size_t stacked = forward.add("dynamic-update-slice", kStack, {stack, x});
    const size_t next = forward.add("multiply", kRow, {x, w});
    forward.add("tuple", carried, {next, stacked, w});

    const hlo::Shape back_carried = hlo::tuple_of({kRow, kStack, kWeight});
    in = backward.parameter(0, back_carried);
    const size_t dx = backward.element(in, 0, kRow), sum = backward.element(in, 2, kWeight);
    stack = backward.element(in, 1, kStack);
    again = backward.add("dynamic-slice", kRow, {stack});
    gradient = backward.add("multiply", kWeight, {again, dx});
    const size_t summed = backward.add("add", kWeight, {sum, gradient});
    backward.add("tuple", back_carried, {dx, stack, summed});

    const size_t weight = main.parameter(0, kWeight), row = main.parameter(1, kRow);
    cast = main.add("convert", kRow, {weight});
    const size_t empty = main.add("broadcast", kStack), zeros = main.add("broadcast", kWeight);
    const size_t start = main.add("tuple", carried, {row, empty, cast});
    loop = main.add("while", carried, {start}, {1, 3});
    const size_t last = main.element(loop, 0, kRow), kept = main.element(loop, 1, kStack);
    logits = main.add("dot", kRow, {last, cast});
    main.last().scope = "output";
    const size_t loss = main.add("reduce", shape("f32"), {logits});
    slope = main.add("exponential", kRow, {logits});
    const size_t back_start = main.add("tuple", back_carried, {slope, kept, zeros});
    back = main.add("while", back_carried, {back_start}, {2, 3});
    const size_t updated = main.add("subtract", kWeight, {weight, main.element(back, 2, kWeight)});
    main.add("tuple", hlo::tuple_of({kWeight, shape("f32")}), {updated, loss});
  }
};

TEST(MemoryPeaks, TellActivationsFromWhatElseIsAlive) {
  Step step;
  hlo::MemoryPlan plan;
  plan.module = {"step", {step.main.get(), step.forward.get(), step.backward.get(), hlo::condition(4).get()}, 0};
  const auto live = [&](int64_t bytes, std::vector<hlo::ValueAt> values) { plan.fullest.push_back({values, bytes}); };
  live(1, {{0, step.loop, 1}});    // the stack: nothing on the way to the loss reads it
  live(2, {{0, step.logits, 0}});  // on the way to the loss, and read on the way back
  live(4, {{0, step.cast, 0}});
  live(8, {{0, step.slope, 0}});
  live(16, {{0, step.back, 2}});   // the sum of gradients
  live(32, {{2, step.again, 0}});  // a copy of a row of the stack, in the loop back
  live(64, {{2, step.gradient, 0}});
  live(128, {{0, step.loop, 0}});  // what leaves the last layer: only the head reads it
  const MemoryPeak peak = memory_peak(plan, {.state = 1, .arguments = 2, .loss = 1, .head = "output"});
  EXPECT_EQ(peak.activations, 1 + 2);
  EXPECT_EQ(peak.weights, 4);
  EXPECT_EQ(peak.others, 8 + 16 + 32 + 64 + 128);
  ASSERT_FALSE(peak.buffers.empty());
  EXPECT_EQ(peak.buffers[0].bytes, 128);
  EXPECT_EQ(peak.buffers[0].type, "bf16[8]");
  EXPECT_EQ(peak.buffers[0].use, "other");
}

TEST(MemoryPeaks, ListAlikeBuffersOnce) {
  Step step;
  hlo::MemoryPlan plan;
  plan.module = {"step", {step.main.get(), step.forward.get(), step.backward.get(), hlo::condition(4).get()}, 0};
  plan.fullest = {{{{0, step.logits, 0}}, 64}, {{{0, step.logits, 0}}, 64}, {{{0, step.slope, 0}}, 100}};
  const MemoryPeak peak = memory_peak(plan, {.state = 1, .arguments = 2, .loss = 1, .head = "output"});
  ASSERT_EQ(peak.buffers.size(), 2u);
  EXPECT_EQ(peak.buffers[0].count, 2);
  EXPECT_EQ(peak.buffers[0].use, "activation");
  EXPECT_EQ(peak.buffers[0].module, "output");
  EXPECT_EQ(peak.buffers[0].op, "dot");
  EXPECT_EQ(peak.buffers[1].bytes, 100);
}

}  // namespace
}  // namespace tethys
