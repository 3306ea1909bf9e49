#include "transforms/combine_gathers.h"

#include <gtest/gtest.h>

#include "ops/collective/collective.h"
#include "ops/elementwise/convert.h"
#include "ops/registry.h"
#include "transforms/dead_code.h"

namespace tethys {
namespace {

const Mesh kTwo({{"dp_shard", 2}});

std::string combined_text(Graph& g, const std::vector<Value>& outputs) {
  g.set_outputs(outputs);
  const auto combined = without_dead_code(*combine_gathers(g, kTwo));
  verify(*combined);
  return to_string(*combined);
}

Value gathered(Value shard, int64_t dim) { return all_gather(convert(shard, DType::BF16), kTwo, {0}, dim, true); }

// The parts of both ranks come one after the other, [2, 6 + 4]: of `a` they are its rows, of `b` its columns.
TEST(CombineGathers, ShardsOfABlockTravelEndToEnd) {
  Graph g;
  const Value a = g.input({DType::F32, {2, 3}}, "a"), b = g.input({DType::F32, {4, 1}}, "b");
  g.set_scope("layers.0.attention");
  const Value whole_a = gathered(a, 0);
  g.set_scope("layers.0.feed_forward");
  const Value whole_b = gathered(b, 1);
  EXPECT_EQ(combined_text(g, {whole_a, whole_b}), R"(%0 = input() {"a"} : f32[2,3]
%1 = input() {"b"} : f32[4,1]
%2 = convert(%0) : bf16[2,3]
%3 = reshape(%2) : bf16[6]
%4 = convert(%1) : bf16[4,1]
%5 = reshape(%4) : bf16[4]
%6 = concatenate(%3, %5) {dim 0} : bf16[10]
%7 = all_gather(%6) {axes [0] dim 0 sum of a parameter} : bf16[20]
%8 = reshape(%7) : bf16[2,10]
%9 = slice(%8) {[0,0] to [2,6] by [1,1]} : bf16[2,6]
%10 = reshape(%9) : bf16[2,2,3]
%11 = reshape(%10) : bf16[4,3]
%12 = slice(%8) {[0,6] to [2,10] by [1,1]} : bf16[2,4]
%13 = reshape(%12) : bf16[2,4,1]
%14 = transpose(%13) {[1,0,2]} : bf16[4,2,1]
%15 = reshape(%14) : bf16[4,2]
return %11, %15
)");
}

int64_t gathers_in(const Graph& graph) {
  int64_t count = 0;
  for (NodeId n = 0; n < graph.node_count(); ++n) count += graph.node(n).op == &all_gather_op ? 1 : 0;
  return count;
}

TEST(CombineGathers, WhatIsNotThereYetOrOfAnotherBlockStaysApart) {
  Graph g;
  const Value a = g.input({DType::F32, {2, 3}}, "a"), b = g.input({DType::F32, {2, 3}}, "b");
  g.set_scope("layers.0.attention");
  const Value first = gathered(a, 0);
  const Value later = gathered(tanh(first), 0);  // of what the first brought
  g.set_scope("layers.1.attention");
  const Value other = gathered(b, 0);
  g.set_scope("layers.1.ffn");
  const Value wide = all_gather(b, kTwo, {0}, 0, true);                        // of another dtype
  const Value activation = all_gather(convert(a, DType::BF16), kTwo, {0}, 0);  // of no parameter
  g.set_outputs({first, later, other, wide, activation});
  EXPECT_EQ(gathers_in(*combine_gathers(g, kTwo)), 5);
}

}  // namespace
}  // namespace tethys
