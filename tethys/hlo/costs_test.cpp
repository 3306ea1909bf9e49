#include "hlo/costs.h"

#include <gtest/gtest.h>

#include "hlo/testing.h"
#include "hlo/trip_count.h"

namespace tethys::hlo {
namespace {

const Shape kCarried = tuple_of({shape("s32"), shape("f32", {8})});

// A loop from `first` while its counter `direction` `bound`, in steps of `step`; 30 cycles of element-wise work and 70
// of a matrix product in each iteration, and 5 cycles outside.
Module looped(int64_t first, int64_t step, int64_t bound, const std::string& direction = "LT") {
  MadeComputation body("body");
  const size_t carried = body.parameter(0, kCarried);
  const size_t counter = body.element(carried, 0, shape("s32")), x = body.element(carried, 1, shape("f32", {8}));
  const size_t copied = body.add("copy", shape("s32"), {counter});
  const size_t y = body.work(70, {x}, 1000, "layers.0.feed_forward"), z = body.work(30, {y}, 0, "layers.0.norm");
  const size_t by = body.constant(step);
  const size_t next = body.add("add", shape("s32"), {copied, by});
  body.add("tuple", kCarried, {next, z});

  MadeComputation main("main");
  const size_t start = main.constant(first);
  const size_t input = main.parameter(0, shape("f32", {8}));
  const size_t begun = main.work(5, {input}, 0, "norm");
  const size_t both = main.add("tuple", kCarried, {start, begun});
  main.add("while", kCarried, {both}, {0, 1});
  return {"step", {body.get(), condition(bound, direction).get(), main.get()}, 2};
}

std::optional<int64_t> count(const Module& module) {
  return trip_count(module, module.entry(), module.entry().instructions.back());
}

TEST(TripCount, IsReadOffConditionAndBody) {
  EXPECT_EQ(count(looped(0, 1, 32)), 32);
  EXPECT_EQ(count(looped(1, 1, 32)), 31);  // one iteration peeled off
  EXPECT_EQ(count(looped(0, 2, 32)), 16);  // two in each
  EXPECT_EQ(count(looped(0, 2, 31)), 16);
  EXPECT_EQ(count(looped(0, 1, 32, "LE")), 33);
  EXPECT_EQ(count(looped(31, -1, -1, "GT")), 32);
  EXPECT_EQ(count(looped(31, -1, 0, "GE")), 32);
  EXPECT_EQ(count(looped(0, 4, 32, "NE")), 8);
  EXPECT_EQ(count(looped(5, 1, 3)), 0);
}

TEST(TripCount, IsUnknownWhereItCannotBeRead) {
  EXPECT_EQ(count(looped(0, 0, 32)), std::nullopt);   // nothing moves
  EXPECT_EQ(count(looped(0, -1, 32)), std::nullopt);  // away from the bound
  EXPECT_EQ(count(looped(0, 5, 32, "NE")), std::nullopt);
  Module module = looped(0, 1, 32);
  module.computations[2].instructions[0].value.reset();  // the start is data
  EXPECT_EQ(count(module), std::nullopt);
  EXPECT_EQ(Costs(module).unread_loops(), 1);
}

TEST(TripCount, FollowsABoundThatIsCarriedAndAConditionThatIsFused) {
  Module module = looped(0, 1, 0);
  // The condition becomes a fusion of carried elements 0 and 2, and element 2 stays what it was: 12.
  const Shape three = tuple_of({shape("s32"), shape("f32", {8}), shape("s32")});
  MadeComputation fused("fused");
  const size_t a = fused.parameter(0, shape("s32")), b = fused.parameter(1, shape("s32"));
  fused.add("compare", shape("pred"), {b, a});
  fused.last().comparison = "GT";  // the bound above the counter
  MadeComputation condition("condition");
  const size_t carried = condition.parameter(0, three);
  const size_t counter = condition.element(carried, 0, shape("s32")),
               bound = condition.element(carried, 2, shape("s32"));
  condition.add("fusion", shape("pred"), {counter, bound}, {3});
  module.computations[1] = condition.get();
  module.computations.push_back(fused.get());
  Computation& body = module.computations[0];
  Instruction kept = body.instructions[1];
  kept.index = 2;
  body.instructions.insert(body.instructions.end() - 1, kept);
  body.instructions.back().operands.push_back(body.instructions.size() - 2);
  body.root = body.instructions.size() - 1;
  Computation& main = module.computations[2];
  Instruction limit = main.instructions[0];
  limit.value = 12;
  main.instructions.insert(main.instructions.end() - 2, limit);
  Instruction& tuple = main.instructions[main.instructions.size() - 2];
  tuple.operands.push_back(main.instructions.size() - 3);
  main.instructions.back().operands = {main.instructions.size() - 2};
  EXPECT_EQ(count(module), 12);
}

TEST(Costs, CountALoopsBodyAsOftenAsItRuns) {
  const Module module = looped(0, 1, 32);
  const Costs costs(module);
  EXPECT_EQ(costs.total().cycles, 5 + 32 * 100);
  EXPECT_EQ(costs.total().matmul_cycles, 32 * 70);
  EXPECT_EQ(costs.total().flops, 32 * 1000);
  EXPECT_EQ(costs.runs(0), 32);
  EXPECT_EQ(costs.unread_loops(), 0);

  const std::vector<CostLine> ops = costs.by_op();
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].what, "matrix product");
  EXPECT_EQ(ops[0].cost.cycles, 32 * 70);
  EXPECT_EQ(ops[1].runs, 33);

  const std::vector<CostLine> scopes = costs.by_scope();
  ASSERT_EQ(scopes.size(), 3u);
  EXPECT_EQ(scopes[0].what, "layers.*.feed_forward");
  EXPECT_EQ(scopes[1].what, "layers.*.norm");
  EXPECT_EQ(scopes[1].cost.cycles, 32 * 30);
  EXPECT_EQ(scopes[2].what, "norm");
}

TEST(Costs, ListWhatHasNoEstimateApart) {
  Module module = looped(0, 1, 4);
  module.computations[0].instructions[4].cycles.reset();  // the matrix product
  module.computations[0].instructions[5].opcode = "custom-call";
  module.computations[0].instructions[5].target = "tpu_custom_call";
  module.computations[0].instructions[5].cycles.reset();
  const Costs costs(module);
  EXPECT_EQ(costs.total().cycles, 5);
  const std::vector<CostLine> lines = costs.without_estimate();
  ASSERT_EQ(lines.size(), 4u);  // these, the copy and the addition to the counter
  EXPECT_EQ(lines[0].what, "matrix product");
  EXPECT_EQ(lines[0].cost.flops, 4000);
  EXPECT_EQ(lines[1].what, "custom call tpu_custom_call");
  EXPECT_EQ(lines[1].bytes, 4 * 32);
}

}  // namespace
}  // namespace tethys::hlo
