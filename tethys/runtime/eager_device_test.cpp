#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "ops/control/redistribute.h"
#include "ops/control/scan.h"
#include "ops/dot/dot.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/shape/splat.h"
#include "ops/tensor.h"
#include "runtime/eager.h"
#include "runtime/testing.h"
#include "transforms/grad.h"

namespace tethys {
namespace {

using runtime_testing::client;
using runtime_testing::mesh_of;
using runtime_testing::put;

const HostTensor kX = HostTensor::of<double>({4}, {0.5, -1, 2, 0});

double number(const HostTensor& t) { return t.to_doubles().at(0); }

TEST(Eager, ValuesAreThereAsSoonAsTheyAreRecorded) {
  Executor executor(client(), Mesh(), {}, {.mode = Mode::Eager});
  Graph graph;
  EagerObserver eager(executor, graph);
  const Value x = graph.input(kX.type(), "x");
  eager.bind_input(x, put(executor, kX, {}));
  const Value y = multiply(x, x);
  EXPECT_EQ(eager.read(y), HostTensor::of<double>({4}, {0.25, 1, 4, 0}));
  EXPECT_EQ(number(eager.read(reduce_sum(y, {0}))), 5.25);
}

TEST(Eager, OnlyTheNumberChangesSoNothingIsCompiled) {
  Executor executor(client(), Mesh(), {}, {.mode = Mode::Eager});
  Graph graph;
  EagerObserver eager(executor, graph);
  const Value x = graph.input(kX.type(), "x");
  eager.bind_input(x, put(executor, kX, {}));
  const Value first = multiply(x, splat(graph, x.type(), 0.1));
  const int64_t compiles = executor.counters().compiles;
  const Value second = multiply(x, splat(graph, x.type(), 0.25));
  EXPECT_EQ(executor.counters().compiles, compiles);
  EXPECT_EQ(eager.read(first), HostTensor::of<double>({4}, {0.5 * 0.1, -0.1, 0.2, 0}));
  EXPECT_EQ(eager.read(second), HostTensor::of<double>({4}, {0.125, -0.25, 0.5, 0}));
}

TEST(Eager, PartialArraysFlowFromOpToOp) {
  Executor executor(client(), mesh_of(4), {}, {.mode = Mode::Eager});
  Graph graph;
  EagerObserver eager(executor, graph);
  const Value x = graph.input(kX.type(), "x");
  eager.bind_input(x, put(executor, kX, {shard(0)}));
  const Value sum = reduce_sum(x, {0});
  EXPECT_EQ(eager.array(sum).placement(), Placement{partial()});
  const Value twice = add(sum, sum);
  EXPECT_EQ(eager.array(twice).placement(), Placement{partial()});
  EXPECT_EQ(number(eager.read(twice)), 3);
  const Value square = multiply(twice, twice);  // not linear: summed first
  EXPECT_EQ(number(eager.read(square)), 9);
}

TEST(Eager, RedistributeRunsItsCollective) {
  Executor executor(client(), mesh_of(4), {}, {.mode = Mode::Eager});
  Graph graph;
  EagerObserver eager(executor, graph);
  const Value x = graph.input(kX.type(), "x");
  eager.bind_input(x, put(executor, kX, {shard(0)}));
  const Value whole = redistribute(x, {replicate()});
  EXPECT_EQ(eager.array(whole).placement(), Placement{replicate()});
  EXPECT_EQ(read_shard(eager.array(whole), 3), kX);
}

// Σ of h after three steps of h ← tanh(h · w + x), and its gradients, against a hand-written loop.
TEST(Eager, GradientsOfAScanThatGrowsItsResultsAreThoseOfACentralDifference) {
  auto loss = [](double w, double h) {
    for (double x : {0.1, -0.2, 0.3}) h = std::tanh(h * w + x);
    return h;
  };
  Executor executor(client(), Mesh(), {}, {.mode = Mode::Eager});
  Graph graph;
  EagerObserver eager(executor, graph);
  const TensorType scalar{DType::F64, {}};
  const Value w = graph.input(scalar, "w");
  const Value h = graph.input(scalar, "h");
  const Value xs = graph.input({DType::F64, {3}}, "xs");
  eager.bind_input(w, put(executor, HostTensor::scalar(0.7), {}));
  eager.bind_input(h, put(executor, HostTensor::scalar(0.4), {}));
  eager.bind_input(xs, put(executor, HostTensor::of<double>({3}, {0.1, -0.2, 0.3}), {}));
  const ScanResults out = scan(graph, 3, {{w}, {h}, {xs}}, [](Graph&, const ScanOperands& in) {
    return ScanResults{{tanh(add(multiply(in.carries[0], in.consts[0]), in.xs[0]))}, {}};
  });
  EXPECT_NEAR(number(eager.read(out.carries[0])), loss(0.7, 0.4), 1e-14);
  const std::vector<Value> wrt = {w, h};
  const auto grads = gradients(out.carries[0], wrt, {});
  constexpr double kStep = 1e-6;
  EXPECT_NEAR(number(eager.read(*grads[0])), (loss(0.7 + kStep, 0.4) - loss(0.7 - kStep, 0.4)) / (2 * kStep), 1e-9);
  EXPECT_NEAR(number(eager.read(*grads[1])), (loss(0.7, 0.4 + kStep) - loss(0.7, 0.4 - kStep)) / (2 * kStep), 1e-9);
}

// The names of ops as they run, and the first whose result is not finite.
struct Log {
  std::vector<std::string> ran;
  std::string first_bad;

  EagerOptions options(bool unroll) {
    return {.unroll = unroll, .inspect = [this](const EagerStep& step) {
              ran.push_back(describe(step.node, step.iterations));
              if (first_bad.empty() && !std::isfinite(number(to_host(step.results[0])))) first_bad = ran.back();
            }};
  }
};

TEST(Eager, EveryOpIsInspectedInOrder) {
  Executor executor(client(), Mesh(), {}, {.mode = Mode::Eager});
  Graph graph;
  Log log;
  EagerObserver eager(executor, graph, log.options(false));
  const Value x = graph.input({DType::F64, {}}, "x");
  eager.bind_input(x, put(executor, HostTensor::scalar(1.0), {}));
  const Scope scope(graph, "norm");
  add(logarithm(negate(x)), x);
  EXPECT_EQ(log.ran, (std::vector<std::string>{"negate of norm", "logarithm of norm", "add of norm"}));
  EXPECT_EQ(log.first_bad, "logarithm of norm");
}

// h ← log(h) + x from 3 with x = 0: log 3, log log 3, log log log 3 = log 0.094 < 0, then not a number.
TEST(Eager, AnUnrolledScanNamesTheIterationInWhichItWentWrong) {
  Executor executor(client(), Mesh(), {}, {.mode = Mode::Eager});
  Graph graph;
  Log log;
  EagerObserver eager(executor, graph, log.options(true));
  const Value h = graph.input({DType::F64, {}}, "h");
  const Value xs = graph.input({DType::F64, {5}}, "xs");
  eager.bind_input(h, put(executor, HostTensor::scalar(3.0), {}));
  eager.bind_input(xs, put(executor, HostTensor(TensorType{DType::F64, {5}}), {}));
  const Scope scope(graph, "layers");
  scan(graph, 5, {{}, {h}, {xs}}, [](Graph&, const ScanOperands& in) {
    return ScanResults{{add(logarithm(in.carries[0]), in.xs[0])}, {}};
  });
  EXPECT_EQ(log.ran.size(), 10U);
  EXPECT_EQ(log.first_bad, "logarithm of layers, iteration 3");
}

TEST(Eager, AnUnrolledScanGivesWhatOneProgramGives) {
  for (const int64_t devices : {1, 4}) {
    for (const Sample& sample : scan_op.samples()) {
      Executor executor(client(), mesh_of(devices), {}, {.mode = Mode::Eager});
      const Placement columns = devices == 1 ? Placement{} : Placement{shard(1)};
      const Placement stacked = devices == 1 ? Placement{} : Placement{shard(2)};
      std::vector<std::vector<HostTensor>> read;
      for (const bool unroll : {false, true}) {
        Graph graph;
        EagerObserver eager(executor, graph, {.unroll = unroll});
        std::vector<Value> operands;
        std::vector<TensorType> types;
        for (const HostTensor& operand : sample.operands) {
          types.push_back(operand.type());
          operands.push_back(graph.input(operand.type(), "x"));
          eager.bind_input(operands.back(), put(executor, operand, operand.type().rank() == 3 ? stacked : columns));
        }
        const std::vector<Value> results =
            graph.append(scan_op, sample.attributes, operands, sample.regions(types), sample.declared);
        std::vector<Value> outputs = results;
        for (const auto& g : gradients(reduce_sum(add(results[0], reduce_sum(results[1], {0})), {0, 1}), operands, {}))
          outputs.push_back(g.value());
        read.emplace_back();
        for (const Value& v : outputs) read.back().push_back(eager.read(v));
      }
      for (size_t i = 0; i < read[0].size(); ++i) {
        const std::vector<double> whole = read[0][i].to_doubles();
        const std::vector<double> unrolled = read[1][i].to_doubles();
        ASSERT_EQ(whole.size(), unrolled.size());
        for (size_t k = 0; k < whole.size(); ++k) EXPECT_NEAR(whole[k], unrolled[k], 1e-13) << sample.name << i;
      }
    }
  }
}

TEST(Eager, ErrorsNameTheOpAndItsModule) {
  Executor executor(client(), Mesh(), {}, {.mode = Mode::Eager});
  Graph graph;
  EagerObserver eager(executor, graph);
  const Value x = graph.input(kX.type(), "x");
  const Scope scope(graph, "layers.0.attention");
  try {
    tanh(x);
    FAIL() << "x has no data";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("in tanh of layers.0.attention"), std::string::npos) << e.what();
  }
}

// A graph that runs as it is recorded, on one input of kX.
struct Session {
  explicit Session(int64_t devices = 1) : executor(client(), mesh_of(devices), {}, {.mode = Mode::Eager}) {
    eager.bind_input(x.value(), put(executor, kX, devices == 1 ? Placement{} : Placement{shard(0)}));
  }
  int64_t live() const { return executor.ledger().live(pjrt::MemoryKind::Default); }

  Executor executor;
  Graph graph;
  EagerObserver eager{executor, graph};
  Tensor x = graph.input(kX.type(), "x");
};

TEST(Eager, AChainOfDroppedResultsHoldsTheInputAndTheLast) {
  Session session;
  Tensor y = session.x;
  for (int i = 0; i < 100; ++i) {
    y = y + 1;
    EXPECT_LE(session.live(), 2 * 32 + 8);  // and the number that was added
  }
  EXPECT_EQ(session.eager.read(y.value()), HostTensor::of<double>({4}, {100.5, 99, 102, 100}));
  EXPECT_LE(session.executor.ledger().peak(), 4 * 32);
}

TEST(Eager, WhatAVjpReadsIsKeptUntilTheEndOfItsChainIsDropped) {
  Session session;
  {
    Tensor y = session.x;
    for (int i = 0; i < 10; ++i) y = tanh(y);
    EXPECT_EQ(session.live(), 11 * 32);
    const Value wrt[] = {session.x.value()};
    const auto g = gradients(sum(y).value(), wrt, {});
    double expected = 1, t = 0.5;
    for (int i = 0; i < 10; ++i) t = std::tanh(t), expected *= 1 - t * t;
    EXPECT_NEAR(session.eager.read(*g[0]).to_doubles()[0], expected, 1e-15);
  }
  Session other;
  {
    Tensor y = other.x;
    for (int i = 0; i < 10; ++i) y = tanh(y);
  }
  EXPECT_EQ(other.live(), 32);
}

TEST(Eager, AFreedValueThatIsReadAfterAllIsComputedAgain) {
  Session session;
  Value y;
  {
    const Tensor twice = session.x + session.x;
    y = (twice + twice).value();
  }
  EXPECT_EQ(session.live(), 32);
  const int64_t compiles = session.executor.counters().compiles;
  EXPECT_EQ(session.eager.read(negate(y)).to_doubles(), (std::vector<double>{-2, 4, -8, 0}));
  EXPECT_EQ(session.executor.counters().compiles, compiles + 1);  // of negate
}

TEST(Eager, NumbersAndZerosAreShardedAsWhatTheyMeet) {
  Session session(4);
  const Value x = session.x.value();
  for (const double number : {0.0, 2.0}) {
    const Value y = add(x, splat(session.graph, x.type(), number));
    EXPECT_EQ(session.eager.array(y).placement(), Placement{shard(0)});
    EXPECT_EQ(read_shard(session.eager.array(y), 2), HostTensor::of<double>({1}, {2 + number}));
  }
  const Value counted = multiply(x, iota(session.graph, x.type(), 0));
  EXPECT_EQ(session.eager.array(counted).placement(), Placement{shard(0)});
  EXPECT_EQ(session.eager.read(counted), HostTensor::of<double>({4}, {0, -1, 4, 0}));
  const Value ones = splat(session.graph, x.type(), 1);
  EXPECT_EQ(session.eager.read(ones), HostTensor::of<double>({4}, {1, 1, 1, 1}));
}

TEST(Eager, AZeroStaysPartialWithThePartialThatItMeets) {
  Session session(4);
  const Value sum = reduce_sum(session.x.value(), {0});
  const Value total = add(splat(session.graph, sum.type(), 0), sum);
  EXPECT_EQ(session.eager.array(total).placement(), Placement{partial()});
  EXPECT_EQ(number(session.eager.read(total)), 1.5);
}

}  // namespace
}  // namespace tethys
