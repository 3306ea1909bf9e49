#include "estimate/step_estimate.h"

#include <gtest/gtest.h>

#include "hlo/testing.h"

namespace tethys {
namespace {

using hlo::shape;

// A chip that computes 1000 cycles a second, and receives 100 bytes a second from its slice and 10 from others.
const TpuKind kSlow = {.name = "slow", .clock = 1000, .ici_receive = 100, .dcn_receive = 10};

// On four devices: a gather beside a product of 3 seconds; one that everything waits for; a sum of gradients.
hlo::Module program(int64_t product_cycles) {
  hlo::MadeComputation main("main");
  const size_t x = main.parameter(0, shape("bf16", {100}));
  const size_t start = main.add("all-gather-start", hlo::tuple_of({shape("bf16", {100}), shape("bf16", {200})}), {x});
  main.last().groups = {{0, 1}, {2, 3}};
  main.work(product_cycles, {x}, 8000, "layers.0.feed_forward");
  const size_t done = main.add("all-gather-done", shape("bf16", {200}), {start});
  main.add("all-gather", shape("bf16", {200}), {done});
  main.last().groups = {{0, 1}, {2, 3}};
  const size_t gradient = main.work(500, {x});
  main.add("all-reduce", shape("f32", {50}), {gradient});
  main.last().groups = {{0, 2}, {1, 3}};
  return {"step", {main.get()}, 0};
}

const Mesh kMesh({{"dp_replicate", 2}, {"dp_shard", 2}});

TEST(StepEstimates, AddWhatNothingHidesToTheCyclesOfCompute) {
  const StepEstimate e = estimate_step(program(3000), kMesh, {"slow:2x2", &kSlow, 4, 1});
  ASSERT_EQ(e.collectives.size(), 3u);
  // 200 of the 400 bytes come from another device: 2 seconds, beside 3 of products.
  EXPECT_DOUBLE_EQ(e.collectives[0].seconds, 2);
  EXPECT_TRUE(e.collectives[0].is_covered);
  EXPECT_DOUBLE_EQ(e.collectives[0].exposed, 0);
  EXPECT_EQ(e.collectives[0].axes, "dp_shard");
  EXPECT_FALSE(e.collectives[1].is_covered);
  EXPECT_DOUBLE_EQ(e.collectives[1].exposed, 2);
  // 200 bytes of gradients: half of them are received to be summed, half as sums.
  EXPECT_DOUBLE_EQ(e.collectives[2].exposed, 2);
  EXPECT_TRUE(e.collectives[2].reduces_gradients);
  EXPECT_DOUBLE_EQ(e.compute_seconds, 3.5);
  EXPECT_DOUBLE_EQ(e.product_seconds, 3);
  EXPECT_DOUBLE_EQ(e.seconds(), 7.5);
  EXPECT_DOUBLE_EQ(e.covered_share(), 0.5);
  EXPECT_DOUBLE_EQ(e.waited_share(), 0.5);
  EXPECT_DOUBLE_EQ(e.reduced_bytes, 200);
  EXPECT_DOUBLE_EQ(e.all_reduced_bytes, 200);
  EXPECT_EQ(e.flops, 8000);
}

TEST(StepEstimates, OfAGatherThatOutlastsItsProductsHaveItsRest) {
  const StepEstimate e = estimate_step(program(500), kMesh, {"slow:2x2", &kSlow, 4, 1});
  EXPECT_FALSE(e.collectives[0].is_covered);
  EXPECT_DOUBLE_EQ(e.collectives[0].exposed, 1.5);
  EXPECT_DOUBLE_EQ(e.covered_share(), 0);
  EXPECT_DOUBLE_EQ(e.waited_share(), 3.5 / 4);  // 1.5 of the first, all 2 of the second
}

// Two gathers of 2 seconds each that start together, beside 3 seconds of products: links bring one after the other.
TEST(StepEstimates, OfCollectivesThatShareTheLinksWaitForEachOther) {
  hlo::MadeComputation main("main");
  const size_t x = main.parameter(0, shape("bf16", {100}));
  size_t starts[2];
  for (size_t& start : starts) {
    start = main.add("all-gather-start", hlo::tuple_of({shape("bf16", {100}), shape("bf16", {200})}), {x});
    main.last().groups = {{0, 1}, {2, 3}};
  }
  main.work(3000, {x}, 8000);
  for (size_t start : starts) main.add("all-gather-done", shape("bf16", {200}), {start});
  const StepEstimate e = estimate_step({"step", {main.get()}, 0}, kMesh, {"slow:2x2", &kSlow, 4, 1});
  ASSERT_EQ(e.collectives.size(), 2u);
  EXPECT_DOUBLE_EQ(e.collectives[0].exposed, 0);
  EXPECT_DOUBLE_EQ(e.collectives[1].exposed, 1);
  EXPECT_DOUBLE_EQ(e.seconds(), 4);
}

// The program of a slice, whose two devices share a gather, and a sum that is sent to the other slice.
TEST(StepEstimates, TakeTheSlowerNetworkBetweenSlices) {
  hlo::MadeComputation main("main");
  const size_t x = main.parameter(0, shape("f32", {25}));
  main.add("all-gather", shape("f32", {50}), {x});
  main.last().groups = {{0, 1}};
  main.add("send", hlo::tuple_of({shape("f32", {25})}), {x});
  main.last().transfer = "ALL_REDUCE";
  main.last().channel = 1;
  const size_t recv = main.add("recv", hlo::tuple_of({shape("f32", {25})}));
  main.last().channel = 1;
  main.work(1000, {x}, 10);
  main.add("recv-done", hlo::tuple_of({shape("f32", {25})}), {recv});
  const StepEstimate e = estimate_step({"step", {main.get()}, 0}, kMesh, {"slow:1x2", &kSlow, 2, 2});
  ASSERT_EQ(e.collectives.size(), 2u);
  EXPECT_EQ(e.collectives[0].axes, "dp_shard");
  EXPECT_DOUBLE_EQ(e.collectives[0].seconds, 1);
  EXPECT_EQ(e.collectives[1].axes, "dp_replicate");
  EXPECT_TRUE(e.collectives[1].between_slices);
  EXPECT_DOUBLE_EQ(e.collectives[1].seconds, 10);  // 100 bytes
  EXPECT_DOUBLE_EQ(e.collectives[1].exposed, 9);
  EXPECT_DOUBLE_EQ(e.reduced_bytes, 100);
}

// Parameters are sharded over both slices: a gather within each, and one between them of what a device has by then.
TEST(StepEstimates, NameThePartsOfAnAxisThatLiesOverSlices) {
  hlo::MadeComputation main("main");
  const size_t x = main.parameter(0, shape("f32", {25}));
  main.add("send", hlo::tuple_of({shape("f32", {25})}), {x});
  main.last().transfer = "ALL_GATHER";
  const size_t recv = main.add("recv", hlo::tuple_of({shape("f32", {50})}));
  const size_t both = main.add("recv-done", hlo::tuple_of({shape("f32", {50})}), {recv});
  main.add("all-gather", shape("f32", {100}), {both});
  main.last().groups = {{0, 1}};
  const StepEstimate e = estimate_step({"step", {main.get()}, 0}, Mesh({{"dp_shard", 4}}), {"slow:1x2", &kSlow, 2, 2});
  ASSERT_EQ(e.collectives.size(), 2u);
  EXPECT_EQ(e.collectives[0].axes, "dp_shard between slices");
  EXPECT_DOUBLE_EQ(e.collectives[0].bytes, 100);
  EXPECT_TRUE(e.collectives[0].gathers_parameters());
  EXPECT_EQ(e.collectives[1].axes, "dp_shard");
  EXPECT_DOUBLE_EQ(e.collectives[1].bytes, 200);
}

}  // namespace
}  // namespace tethys
