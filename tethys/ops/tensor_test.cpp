#include "ops/tensor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tethys {
namespace {

Tensor input(Graph& g, DType dtype, Dims dims) { return g.input({dtype, std::move(dims)}, "x"); }

// The names of the ops recorded since the inputs, in order.
std::vector<std::string> ops(const Graph& g) {
  std::vector<std::string> names;
  for (NodeId n = 0; n < g.node_count(); ++n) {
    if (g.node(n).op != &input_op) names.emplace_back(g.node(n).op->name);
  }
  return names;
}

TEST(Tensor, BroadcastsFromTheRightAndPromotes) {
  Graph g;
  const Tensor a = input(g, DType::BF16, {2, 1, 4});
  const Tensor b = input(g, DType::F32, {3, 1});
  const Tensor c = a + b;
  EXPECT_EQ(to_string(c.value().type()), "f32[2,3,4]");
  EXPECT_THROW(input(g, DType::F32, {3}) + input(g, DType::F32, {4}), InternalError);
}

TEST(Tensor, AnOperationOnEqualTypesRecordsOneNode) {
  Graph g;
  const Tensor a = input(g, DType::F32, {2, 3});
  const Tensor b = input(g, DType::F32, {2, 3});
  const Tensor c = a * b;
  EXPECT_EQ(ops(g), std::vector<std::string>{"multiply"});
}

TEST(Tensor, ANumberTakesTheTensorsDtype) {
  Graph g;
  const Tensor x = input(g, DType::BF16, {2});
  EXPECT_EQ((x * 0.5).dtype(), DType::BF16);
  EXPECT_EQ((1.0 - x).dtype(), DType::BF16);
  EXPECT_EQ((x < 3).dtype(), DType::Bool);
  const Tensor n = input(g, DType::S32, {2});
  EXPECT_EQ((n + 1).dtype(), DType::S32);
  EXPECT_THROW(n * 0.5, InternalError);
}

TEST(Tensor, AxesCountFromTheEnd) {
  Graph g;
  const Tensor x = input(g, DType::F32, {2, 3, 4});
  EXPECT_EQ(sum(x, {-1}).dims(), (Dims{2, 3}));
  EXPECT_EQ(max(x, {0, -1}, true).dims(), (Dims{1, 3, 1}));
  EXPECT_EQ(mean(x, {1}).dims(), (Dims{2, 4}));
  EXPECT_EQ(sum(x).dims(), Dims{});
  EXPECT_EQ(transpose(x, -1, -2).dims(), (Dims{2, 4, 3}));
  EXPECT_EQ(permute(x, {-1, 0, 1}).dims(), (Dims{4, 2, 3}));
  EXPECT_EQ(slice(x, -1, 1, -1).dims(), (Dims{2, 3, 2}));
  EXPECT_EQ(unsqueeze(x, -1).dims(), (Dims{2, 3, 4, 1}));
  EXPECT_EQ(concatenate({x, x}, -2).dims(), (Dims{2, 6, 4}));
  EXPECT_THROW(sum(x, {3}), InternalError);
  EXPECT_THROW(sum(x, {1, -2}), InternalError);
}

TEST(Tensor, ReshapeFillsInOneSize) {
  Graph g;
  const Tensor x = input(g, DType::F32, {2, 3, 4});
  EXPECT_EQ(reshape(x, {6, -1}).dims(), (Dims{6, 4}));
  EXPECT_THROW(reshape(x, {5, -1}), InternalError);
}

TEST(Tensor, EinsumOrdersItsResultAsWritten) {
  Graph g;
  const Tensor q = input(g, DType::BF16, {2, 5, 3, 8});
  const Tensor k = input(g, DType::BF16, {2, 7, 3, 8});
  const Tensor scores = einsum("bskd,btkd->bkst", q, k, DType::F32);
  EXPECT_EQ(to_string(scores.value().type()), "f32[2,3,5,7]");
  EXPECT_EQ(einsum("bskd,btkd->tskb", q, k).dims(), (Dims{7, 5, 3, 2}));
  EXPECT_THROW(einsum("bskd,btkd->bks", q, k), InternalError);
  EXPECT_THROW(einsum("bsk,btkd->bks", q, k), InternalError);
}

TEST(Tensor, MatmulBatchesOverLeadingAxes) {
  Graph g;
  const Tensor x = input(g, DType::F32, {2, 3, 4});
  EXPECT_EQ(matmul(x, input(g, DType::F32, {4, 5})).dims(), (Dims{2, 3, 5}));
  EXPECT_EQ(matmul(x, input(g, DType::F32, {2, 4, 6})).dims(), (Dims{2, 3, 6}));
}

TEST(Tensor, WhereBroadcastsItsPredicate) {
  Graph g;
  const Tensor p = input(g, DType::Bool, {3, 1});
  const Tensor x = input(g, DType::F32, {2, 3, 4});
  EXPECT_EQ(where(p, x, 0.0).dims(), (Dims{2, 3, 4}));
}

TEST(Tensor, CountsItsHandles) {
  Graph g;
  const Value v = g.input({DType::F32, {2}}, "x");
  EXPECT_EQ(g.info(v.id).handles, 0);
  {
    Tensor a = v;
    Tensor b = a;
    EXPECT_EQ(g.info(v.id).handles, 2);
    const Tensor c = std::move(a);
    EXPECT_EQ(g.info(v.id).handles, 2);
    b = exponential(c);
    EXPECT_EQ(g.info(v.id).handles, 1);
  }
  EXPECT_EQ(g.info(v.id).handles, 0);
}

TEST(Tensor, IntermediateValuesLoseTheirHandles) {
  Graph g;
  const Tensor x = input(g, DType::F32, {2, 1});
  const Tensor y = softmax(x + input(g, DType::F32, {3}), -1);
  int32_t held = 0;
  for (ValueId v = 0; v < g.value_count(); ++v) held += g.info(v).handles;
  EXPECT_EQ(held, 2);  // x and y
}

TEST(Tensor, TagNamesTheValue) {
  Graph g;
  const Tensor x = tag(input(g, DType::F32, {2}) * 2, "q");
  EXPECT_EQ(g.info(x.value().id).tag, "q");
}

}  // namespace
}  // namespace tethys
