#include <gtest/gtest.h>

#include <cmath>

#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/tensor.h"
#include "runtime/deferred.h"
#include "runtime/testing.h"
#include "transforms/grad.h"

namespace tethys {
namespace {

using runtime_testing::client;
using runtime_testing::mesh_of;
using runtime_testing::put;

const HostTensor kX = HostTensor::of<double>({4}, {0.5, -1, 2, 0});

// A graph that is queued as it is recorded, on one input of kX.
struct Session {
  explicit Session(int64_t devices = 1, int64_t most_ops = 20000)
      : executor(client(), mesh_of(devices), {}, {.mode = Mode::Deferred}),
        deferred(executor, graph, {most_ops, [this](const Flush& f) { flushes.push_back(f); }}) {
    deferred.bind_input(x.value(), put(executor, kX, devices == 1 ? Placement{} : Placement{shard(0)}));
  }
  int64_t live() const { return executor.ledger().live(pjrt::MemoryKind::Default); }

  std::vector<Flush> flushes;
  Executor executor;
  Graph graph;
  DeferredObserver deferred;
  Tensor x = graph.input(kX.type(), "x");
};

TEST(Deferred, NothingRunsBeforeAValueIsReadAndThenAllThatIsHeldRunsAsOne) {
  Session s;
  const Tensor y = s.x + s.x, z = y * y;
  const int64_t before = s.live();
  EXPECT_TRUE(s.flushes.empty());
  EXPECT_EQ(s.deferred.read(z.value()), HostTensor::of<double>({4}, {1, 4, 16, 0}));
  ASSERT_EQ(s.flushes.size(), 1U);
  EXPECT_EQ(s.flushes[0].ops, 2);
  EXPECT_EQ(s.flushes[0].results, 2);
  EXPECT_EQ(s.flushes[0].bytes, 64);
  EXPECT_EQ(s.flushes[0].why, "a read of multiply");
  EXPECT_EQ(s.executor.counters().compiles, 1);
  EXPECT_EQ(s.live(), before + 64);
  EXPECT_EQ(s.deferred.read(y.value()), HostTensor::of<double>({4}, {1, -2, 4, 0}));
  EXPECT_EQ(s.flushes.size(), 1U);
}

TEST(Deferred, WhatNobodyHoldsIsInternalToTheProgram) {
  Session s;
  Tensor y = s.x;
  for (int i = 0; i < 50; ++i) y = y + s.x;
  EXPECT_EQ(s.deferred.read(y.value()), HostTensor::of<double>({4}, {25.5, -51, 102, 0}));
  ASSERT_EQ(s.flushes.size(), 1U);
  EXPECT_EQ(s.flushes[0].ops, 50);
  EXPECT_EQ(s.flushes[0].results, 1);
  EXPECT_EQ(s.live(), 2 * 32);
}

TEST(Deferred, TheSameTurnAgainCompilesNothing) {
  Session s;
  Tensor y = s.x;
  for (int turn = 0; turn < 5; ++turn) {
    y = tanh(y.value());
    y = y + y;
    s.deferred.read(y.value());
  }
  ASSERT_EQ(s.flushes.size(), 5U);
  EXPECT_TRUE(s.flushes[0].compiled);
  for (int turn = 1; turn < 5; ++turn) {
    EXPECT_FALSE(s.flushes[turn].compiled) << turn;
    EXPECT_EQ(s.flushes[turn].ops, 2) << turn;  // the turn before is not computed again, though nobody holds its result
  }
  EXPECT_EQ(s.executor.counters().compiles, 1);
}

TEST(Deferred, AFullQueueRunsForAllThatCanStillBeAskedFor) {
  Session s(1, 10);
  Tensor y = s.x;
  for (int i = 0; i < 25; ++i) y = y + s.x;
  ASSERT_EQ(s.flushes.size(), 2U);
  EXPECT_EQ(s.flushes[1].why, "a queue of 10 ops");
  EXPECT_EQ(s.deferred.read(y.value()), HostTensor::of<double>({4}, {13, -26, 52, 0}));
}

// The forward runs when the sum is read; what the backward needs of it is there then, and is not computed again.
TEST(Deferred, AReadInTheMiddleKeepsWhatAVjpReads) {
  for (const int64_t devices : {1, 4}) {
    Session s(devices);
    Tensor y = s.x;
    for (int i = 0; i < 3; ++i) y = tanh(y.value());
    const Tensor total = sum(y);
    const double forward = std::tanh(std::tanh(std::tanh(0.5))) + std::tanh(std::tanh(std::tanh(-1.0))) +
                           std::tanh(std::tanh(std::tanh(2.0)));
    EXPECT_NEAR(s.deferred.read(total.value()).to_doubles()[0], forward, 1e-15);
    const Value wrt[] = {s.x.value()};
    const auto g = gradients(total.value(), wrt, {});
    double expected = 1, t = 0.5;
    for (int i = 0; i < 3; ++i) t = std::tanh(t), expected *= 1 - t * t;
    EXPECT_NEAR(s.deferred.read(*g[0]).to_doubles()[0], expected, 1e-15);
    ASSERT_EQ(s.flushes.size(), 2U);
    EXPECT_LT(s.flushes[1].ops, s.graph.node_count() - s.flushes[0].ops);
  }
}

TEST(Deferred, TheEndOfAStepGivesWhatIsWantedAndNothingElse) {
  Session s;
  const Tensor held = s.x + s.x;
  const Value wanted = (held * s.x).value();  // that no Tensor holds by then
  s.deferred.end_step({wanted, s.x.value()});
  ASSERT_EQ(s.flushes.size(), 1U);
  EXPECT_EQ(s.flushes[0].results, 1);
  EXPECT_EQ(to_host(s.deferred.array(wanted)), HostTensor::of<double>({4}, {0.5, 2, 8, 0}));
  EXPECT_EQ(s.flushes.size(), 1U);
  EXPECT_EQ(s.deferred.read(held.value()), HostTensor::of<double>({4}, {1, -2, 4, 0}));  // computed again
}

TEST(Deferred, AnInputWithoutDataIsNamed) {
  Executor executor(client(), Mesh(), {}, {.mode = Mode::Deferred});
  Graph graph;
  DeferredObserver deferred(executor, graph);
  const Value y = tanh(graph.input(kX.type(), "x"));
  EXPECT_THROW(deferred.read(y), InternalError);
}

}  // namespace
}  // namespace tethys
