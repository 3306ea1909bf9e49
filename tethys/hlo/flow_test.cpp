#include "hlo/flow.h"

#include <gtest/gtest.h>

#include "hlo/testing.h"

namespace tethys::hlo {
namespace {

// A loop that carries (a, b, c), each f32[8]: b takes a's place, and a stays.
Module loop() {
  const Shape carried = tuple_of({shape("f32", {8}), shape("f32", {8}), shape("f32", {8})});
  MadeComputation body("body");
  const size_t in = body.parameter(0, carried);
  const size_t a = body.element(in, 0, shape("f32", {8})), c = body.element(in, 2, shape("f32", {8}));
  const size_t copied = body.add("copy", shape("f32", {8}), {a});
  body.add("tuple", carried, {a, copied, c});
  MadeComputation main("main");
  const size_t x = main.parameter(0, shape("f32", {8})), y = main.parameter(1, shape("f32", {8}));
  const size_t z = main.parameter(2, shape("f32", {8}));
  const size_t start = main.add("tuple", carried, {x, y, z});
  const size_t run = main.add("while", carried, {start}, {1, 2});
  const size_t second = main.element(run, 1, shape("f32", {8})), third = main.element(run, 2, shape("f32", {8}));
  main.add("tuple", tuple_of({shape("f32", {8}), shape("f32", {8})}), {second, third});
  return {"step", {main.get(), body.get(), MadeComputation("condition").get()}, 0};
}

TEST(Flow, GoesThroughLoopsElementByElement) {
  const Module module = loop();
  const Flow flow(module);
  const Flow::Marks from_x = flow.after(flow.argument(0)), from_y = flow.after(flow.argument(1));
  const Flow::Marks from_z = flow.after(flow.argument(2));
  const size_t second = flow.result(0)[0], third = flow.result(1)[0];
  EXPECT_TRUE(from_x[second]);  // after one iteration
  EXPECT_TRUE(from_y[second]);  // after none
  EXPECT_FALSE(from_z[second]);
  EXPECT_FALSE(from_x[third]);
  EXPECT_TRUE(from_z[third]);
  const Flow::Marks for_third = flow.before(flow.result(1));
  EXPECT_TRUE(for_third[flow.argument(2)[0]]);
  EXPECT_FALSE(for_third[flow.argument(0)[0]]);
}

// A fusion of two results: each depends on what it is computed from.
TEST(Flow, GoesThroughFusions) {
  MadeComputation fused("fused");
  const size_t p = fused.parameter(0, shape("f32", {8})), q = fused.parameter(1, shape("f32", {8}));
  const size_t sum = fused.add("negate", shape("f32", {8}), {p});
  const size_t product = fused.add("multiply", shape("f32", {8}), {p, q});
  fused.add("tuple", tuple_of({shape("f32", {8}), shape("f32", {8})}), {sum, product});
  MadeComputation main("main");
  const size_t x = main.parameter(0, shape("f32", {8})), y = main.parameter(1, shape("f32", {8}));
  main.add("fusion", tuple_of({shape("f32", {8}), shape("f32", {8})}), {x, y}, {1});
  const Module module{"step", {main.get(), fused.get()}, 0};
  const Flow flow(module);
  const Flow::Marks from_y = flow.after(flow.argument(1));
  EXPECT_FALSE(from_y[flow.result(0)[0]]);
  EXPECT_TRUE(from_y[flow.result(1)[0]]);
}

TEST(Flow, GoesOverOtherSlices) {
  MadeComputation main("main");
  const size_t x = main.parameter(0, shape("f32", {8}));
  main.add("send", tuple_of({shape("f32", {8}), shape("u32"), shape("")}), {x});
  main.last().meeting = "all-reduce.1";
  const size_t token = main.add("after-all", shape(""));
  const size_t recv = main.add("recv", tuple_of({shape("f32", {8}), shape("u32"), shape("")}), {token});
  main.last().meeting = "all-reduce.1";
  main.add("recv-done", tuple_of({shape("f32", {8}), shape("")}), {recv});
  const Module module{"step", {main.get()}, 0};
  const Flow flow(module);
  EXPECT_TRUE(flow.after(flow.argument(0))[flow.result(0)[0]]);
}

}  // namespace
}  // namespace tethys::hlo
