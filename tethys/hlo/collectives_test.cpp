#include "hlo/collectives.h"

#include <gtest/gtest.h>

#include "hlo/testing.h"

namespace tethys::hlo {
namespace {

const std::vector<std::vector<int64_t>> kRows = {{0, 1}, {2, 3}}, kColumns = {{0, 2}, {1, 3}};
const Shape kPart = shape("bf16", {64}), kWhole = shape("bf16", {128});

// One gather that a matrix product is computed beside, and one that everything waits for.
TEST(Collectives, AreCoveredByWhatIsScheduledBetweenStartAndDone) {
  MadeComputation main("main");
  const size_t x = main.parameter(0, kPart);
  const size_t start = main.add("all-gather-start", tuple_of({kPart, kWhole}), {x});
  main.last().groups = kRows;
  const size_t product = main.work(900, {x}, 5000), other = main.work(40, {product});
  const size_t done = main.add("all-gather-done", kWhole, {start});
  main.work(7, {done});
  main.add("all-gather", kWhole, {other});
  main.last().groups = kColumns;
  const Module module{"step", {main.get()}, 0};
  const Costs costs(module);
  const std::vector<Collective> found = collectives_of(costs);
  ASSERT_EQ(found.size(), 2u);
  const Mesh mesh({{"dp_shard", 2}, {"tp", 2}});
  EXPECT_EQ(found[0].kind, "all-gather");
  EXPECT_TRUE(found[0].async);
  EXPECT_EQ(found[0].bytes, 256);
  EXPECT_EQ(found[0].received(), 128);
  EXPECT_EQ(found[0].dtype, "bf16");
  EXPECT_EQ(found[0].window.cycles, 940);
  EXPECT_EQ(found[0].window.matmul_cycles, 900);
  EXPECT_EQ(axes_of(found[0], mesh), "tp");
  EXPECT_EQ(found[0].start_cycles, 0);
  EXPECT_EQ(found[0].end_cycles, 940);
  EXPECT_LT(found[0].start, found[0].end);
  EXPECT_EQ(found[1].start_cycles, 947);
  EXPECT_FALSE(found[1].async);
  EXPECT_EQ(found[1].bytes, 256);
  EXPECT_EQ(found[1].window.cycles, 0);
  EXPECT_EQ(axes_of(found[1], mesh), "dp_shard");
}

// What another core runs: announced, then given its operand, from when it is on its way.
TEST(Collectives, OfAnotherCoreBeginWhereTheyAreGivenTheirOperand) {
  MadeComputation inner("inner", "sparsecore");
  const size_t y = inner.parameter(0, shape("f32", {128}));
  inner.add("reduce-scatter", shape("f32", {64}), {y});
  inner.last().groups = kRows;
  MadeComputation call("call", "sparsecore");
  call.add("custom-call", shape("f32", {64}), {}, {0});
  MadeComputation main("main");
  const size_t x = main.parameter(0, shape("f32", {128}));
  const size_t start = main.add("async-start", tuple_of({}), {}, {1});
  const size_t early = main.work(300, {x}, 10);
  const size_t update = main.add("async-update", tuple_of({}), {start, early});
  main.work(20, {x}, 10);
  const size_t done = main.add("async-done", shape("f32", {64}), {update});
  main.work(4, {done}, 10);
  const Module module{"step", {inner.get(), call.get(), main.get()}, 2};
  const Costs costs(module);
  const std::vector<Collective> found = collectives_of(costs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "reduce-scatter");
  EXPECT_TRUE(found[0].async);
  EXPECT_EQ(found[0].bytes, 128 * 4);  // what goes in
  EXPECT_EQ(found[0].received(), 64 * 4);
  EXPECT_EQ(found[0].window.matmul_cycles, 20);
}

// Between slices: from the send to the end of its recv, which needs not be the next.
TEST(Collectives, BetweenSlicesAreASendAndARecv) {
  MadeComputation main("main");
  const size_t x = main.parameter(0, shape("f32", {64}));
  const size_t send = main.add("send", tuple_of({shape("f32", {64})}), {x});
  main.last().channel = 7;
  main.last().transfer = "ALL_REDUCE";
  const size_t recv = main.add("recv", tuple_of({shape("f32", {64})}));
  main.last().channel = 7;
  main.add("send-done", shape(""), {send});
  main.work(50, {x}, 10);
  const size_t done = main.add("recv-done", tuple_of({shape("f32", {64})}), {recv});
  main.work(9, {done}, 10);
  const Module module{"step", {main.get()}, 0};
  const Costs costs(module);
  const std::vector<Collective> found = collectives_of(costs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "all-reduce");
  EXPECT_EQ(found[0].bytes, 256);
  EXPECT_TRUE(found[0].between_slices);
  EXPECT_EQ(found[0].window.matmul_cycles, 50);
}

// Channels of a send and its recv may differ; then both name where they meet.
TEST(Collectives, BetweenSlicesMeetByName) {
  MadeComputation main("main");
  const size_t x = main.parameter(0, shape("f32", {64}));
  main.add("send", tuple_of({shape("f32", {64})}), {x});
  main.last().channel = 8;
  main.last().transfer = "ALL_GATHER";
  main.last().meeting = "all-gather.1_0";
  const size_t recv = main.add("recv", tuple_of({shape("f32", {128})}));
  main.last().channel = 7;
  main.last().meeting = "all-gather.1_0";
  main.work(50, {x}, 10);
  const size_t done = main.add("recv-done", tuple_of({shape("f32", {128})}), {recv});
  main.work(9, {done}, 10);
  const Module module{"step", {main.get()}, 0};
  const Costs costs(module);
  const std::vector<Collective> found = collectives_of(costs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "all-gather");
  EXPECT_EQ(found[0].window.matmul_cycles, 50);
}

// A fusion begins, another goes on beside a product of its own, a third ends: one gather.
TEST(Collectives, ThatFusionsCarryOnAreOne) {
  const auto part = [](const std::string& target, double flops) {
    MadeComputation fused("fused");
    const size_t x = fused.parameter(0, kPart);
    const size_t gathered = fused.add("all-gather", kWhole, {x});
    fused.last().groups = kRows;
    if (flops > 0) fused.work(0, {x}, flops);
    if (!target.empty()) {
      fused.add("custom-call", kWhole, {gathered});
      fused.last().target = target;
    }
    return fused.get();
  };
  MadeComputation main("main");
  const size_t x = main.parameter(0, kPart);
  const size_t start = main.add("fusion", tuple_of({kPart, kWhole}), {x}, {0});
  const size_t state = main.element(start, 1, kWhole);
  const size_t carried = main.add("fusion", tuple_of({kPart, kWhole}), {state}, {1});
  main.last().cycles = 600;
  const size_t later = main.element(carried, 1, kWhole);
  main.add("fusion", kWhole, {later}, {2});
  const Module module{
      "step", {part("AsyncCollectiveStart", 0), part("", 700), part("AsyncCollectiveDone", 0), main.get()}, 3};
  const Costs costs(module);
  const std::vector<Collective> found = collectives_of(costs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].async);
  EXPECT_EQ(found[0].window.matmul_cycles, 600);
}

TEST(Collectives, InALoopRunAsOftenAsItAndMoveWhatTheirKindMoves) {
  MadeComputation sliced("sliced");
  const size_t whole = sliced.parameter(0, shape("f32", {128}));
  const size_t sum = sliced.add("all-reduce", shape("f32", {128}), {whole});
  sliced.last().groups = kRows;
  sliced.add("dynamic-slice", shape("f32", {64}), {sum});

  const Shape carried_shape = tuple_of({shape("s32"), shape("f32", {8})});
  MadeComputation body("body");
  const size_t carried = body.parameter(0, carried_shape);
  const size_t counter = body.element(carried, 0, shape("s32")), x = body.element(carried, 1, shape("f32", {8}));
  const size_t y = body.add("all-reduce", shape("f32", {8}), {x});
  body.last().groups = {{0, 1, 2, 3}};
  body.add("fusion", shape("f32", {64}), {y}, {0});
  const size_t one = body.constant(1), next = body.add("add", shape("s32"), {counter, one});
  body.add("tuple", carried_shape, {next, y});
  MadeComputation main("main");
  const size_t zero = main.constant(0), input = main.parameter(0, shape("f32", {8}));
  const size_t both = main.add("tuple", carried_shape, {zero, input});
  main.add("while", carried_shape, {both}, {1, 2});
  main.add("collective-permute", shape("f32", {8}), {input});
  main.last().groups = {{0, 2}, {2, 0}, {1, 3}, {3, 1}};
  const Module module{"step", {sliced.get(), body.get(), condition(6).get(), main.get()}, 3};
  const Costs costs(module);
  const std::vector<Collective> found = collectives_of(costs);
  ASSERT_EQ(found.size(), 3u);
  const Mesh mesh({{"dp_replicate", 2}, {"dp_shard", 2}});
  EXPECT_EQ(found[0].runs, 6);
  EXPECT_EQ(found[0].received(), 2 * 3.0 / 4 * 32);
  EXPECT_EQ(axes_of(found[0], mesh), "dp_replicate, dp_shard");
  // An all-reduce of which only a slice is kept is a reduce-scatter.
  EXPECT_EQ(found[1].kind, "reduce-scatter");
  EXPECT_EQ(found[1].received(), 0.5 * 512);
  EXPECT_EQ(axes_of(found[1], mesh), "dp_shard");
  EXPECT_EQ(found[2].runs, 1);
  EXPECT_EQ(found[2].received(), 32);
  EXPECT_EQ(axes_of(found[2], mesh), "dp_replicate");
}

}  // namespace
}  // namespace tethys::hlo
