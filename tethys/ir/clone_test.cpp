#include "ir/clone.h"

#include <gtest/gtest.h>

#include "ir/testing.h"

namespace tethys {
namespace {

using namespace ir_testing;

const TensorType kF4{DType::F32, {4}};

TEST(Clone, KeepsAttributesTagsAndScopes) {
  Graph source, target;
  const Value x = source.input(kF4, "x");
  Value y;
  {
    const Scope scope(source, "layer");
    y = source.append(times_op, Times{3}, {x})[0];
  }
  source.set_tag(y, "q");
  ValueMap map(source.value_count());
  map[x.id] = target.input(kF4, "x");
  const Scope outer(target, "outer");
  const std::vector<Value> copies = clone_node(source, source.info(y.id).node, target, map);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(map[y.id], copies[0]);
  const Node& copy = target.producer(copies[0].id);
  EXPECT_EQ(copy.attributes.as<Times>().factor, 3);
  EXPECT_EQ(copy.scope, "layer");
  EXPECT_EQ(target.info(copies[0].id).tag, "q");
  EXPECT_EQ(target.scope(), "outer");
}

TEST(Clone, InfersTypesAnewAndTakesDeclaredOnesFromTheSource) {
  Graph source, target;
  const Value x = source.input(kF4, "x");
  const Value sum = source.append(sum_op, {}, {x})[0];
  const Value made = source.append(source_op, {}, {}, {}, {{DType::S32, {2}}})[0];
  ValueMap map(source.value_count());
  map[x.id] = target.input({DType::F32, {2}}, "local");
  clone_node(source, source.info(sum.id).node, target, map);
  clone_node(source, source.info(made.id).node, target, map);
  EXPECT_EQ(to_string(map[sum.id].type()), "f32[2]");
  EXPECT_EQ(to_string(map[made.id].type()), "s32[2]");
}

TEST(Clone, AnOperandThatWasNotClonedIsABug) {
  Graph source, target;
  const Value x = source.input(kF4, "x");
  source.append(sum_op, {}, {x});
  ValueMap map(source.value_count());
  EXPECT_EQ(bug([&] { clone_node(source, 1, target, map); }), "clone of sum: operand %0 was not cloned");
}

TEST(Inline, PutsAGraphInPlaceOfACall) {
  Graph source, target;
  const Value a = source.input(kF4, "a");
  const Value b = source.input(kF4, "b");
  source.set_outputs({source.append(sum_op, {}, {a, b})[0], b});
  const Value x = target.input(kF4, "x");
  const std::vector<Value> results = inline_graph(source, target, {x, x});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(target.producer(results[0].id).operands, (std::vector<ValueId>{x.id, x.id}));
  EXPECT_EQ(results[1], x);
  EXPECT_EQ(bug([&] { inline_graph(source, target, {x}); }), "1 arguments for a graph of 2 inputs");
}

}  // namespace
}  // namespace tethys
