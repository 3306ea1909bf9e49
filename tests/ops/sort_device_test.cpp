// What sort, top_k and cumulative_sum give, on numbers that were ordered and added by hand.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "ops/shape/splat.h"
#include "ops/sort/sort.h"
#include "runtime/testing.h"

namespace tethys {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

HostTensor row(const std::vector<double>& values) {
  return HostTensor::from_doubles({DType::F64, {static_cast<int64_t>(values.size())}}, values);
}

using Record = std::function<std::vector<Value>(const Value&)>;

std::vector<std::vector<double>> run(const HostTensor& input, const Record& record) {
  Executor& executor = runtime_testing::shared_executor(1);
  Graph graph;
  graph.set_outputs(record(graph.input(input.type(), "x", Placement{})));
  std::vector<std::vector<double>> results;
  for (const Array& array : executor.call(graph, {runtime_testing::put(executor, input, {})}))
    results.push_back(to_host(array).to_doubles());
  return results;
}

std::vector<std::vector<double>> sorted_with_index(const std::vector<double>& values, Order order) {
  return run(row(values), [&](const Value& x) {
    const Value tensors[] = {x, iota(*x.graph, {DType::S32, x.dims()}, 0)};
    return sort(tensors, 0, order);
  });
}

TEST(Sort, KeepsTheOrderOfEqualKeysInBothDirections) {
  const auto up = sorted_with_index({3, 1, 3, 2, 1}, Order::Ascending);
  EXPECT_EQ(up[0], (std::vector<double>{1, 1, 2, 3, 3}));
  EXPECT_EQ(up[1], (std::vector<double>{1, 4, 3, 0, 2}));
  const auto down = sorted_with_index({3, 1, 3, 2, 1}, Order::Descending);
  EXPECT_EQ(down[0], (std::vector<double>{3, 3, 2, 1, 1}));
  EXPECT_EQ(down[1], (std::vector<double>{0, 2, 3, 1, 4}));
}

TEST(Sort, TakesNaNForTheLargest) {
  EXPECT_EQ(sorted_with_index({2, kNaN, 1, kNaN, 3}, Order::Ascending)[1], (std::vector<double>{2, 0, 4, 1, 3}));
  EXPECT_EQ(sorted_with_index({2, kNaN, 1, kNaN, 3}, Order::Descending)[1], (std::vector<double>{1, 3, 4, 0, 2}));
}

TEST(TopK, BreaksTiesByTheLowestIndex) {
  const auto got = run(row({1, 5, 2, 5, 2}), [](const Value& x) {
    const TopK top = top_k(x, 0, 3);
    return std::vector<Value>{top.values, top.indices};
  });
  EXPECT_EQ(got[0], (std::vector<double>{5, 5, 2}));
  EXPECT_EQ(got[1], (std::vector<double>{1, 3, 2}));
}

TEST(CumulativeSum, AddsFromEitherEnd) {
  const auto got = run(row({1, 2, 4, 8, 16}), [](const Value& x) {
    return std::vector<Value>{cumulative_sum(x, 0), cumulative_sum(x, 0, /*reverse=*/true)};
  });
  EXPECT_EQ(got[0], (std::vector<double>{1, 3, 7, 15, 31}));
  EXPECT_EQ(got[1], (std::vector<double>{31, 30, 28, 24, 16}));
}

}  // namespace
}  // namespace tethys
