#include "runtime/watchdog.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace tethys {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, AStepThatDoesNotEndIsReportedOnceWithItsProgramAndWhatItWaitsFor) {
  std::promise<Watchdog::Stuck> reported;
  std::atomic<int> count = 0;
  Watchdog watchdog(20ms, [&](const Watchdog::Stuck& stuck) {
    if (++count == 1) reported.set_value(stuck);
  });
  const Watchdog::Step guard = watchdog.step(7, "train_step", "all_reduce ×2");
  std::future<Watchdog::Stuck> future = reported.get_future();
  ASSERT_EQ(future.wait_for(10s), std::future_status::ready);
  const Watchdog::Stuck stuck = future.get();
  EXPECT_EQ(stuck.step, 7);
  EXPECT_EQ(stuck.program, "train_step");
  EXPECT_EQ(stuck.limit, 20ms);
  EXPECT_EQ(to_string(stuck),
            "step 7 of program train_step did not end within 0.02 s; it waits for its devices and for all_reduce ×2");
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(count, 1);
}

TEST(Watchdog, AProgramThatWaitsForNothingElseWaitsForItsDevices) {
  EXPECT_EQ(to_string(Watchdog::Stuck{.step = 1, .program = "step", .waits = "", .limit = 600s}),
            "step 1 of program step did not end within 600 s; it waits for its devices");
}

TEST(Watchdog, StepsThatEndInTimeAreNotReported) {
  std::atomic<int> count = 0;
  {
    // Ten steps that together take longer than the limit, far apart from it each.
    Watchdog watchdog(2s, [&](const Watchdog::Stuck&) { ++count; });
    for (int64_t i = 0; i < 10; ++i) {
      const Watchdog::Step guard = watchdog.step(i, "step");
      std::this_thread::sleep_for(1ms);
    }
  }
  EXPECT_EQ(count, 0);
}

TEST(Watchdog, TimeBetweenStepsDoesNotCount) {
  std::atomic<int> count = 0;
  Watchdog watchdog(30ms, [&](const Watchdog::Stuck&) { ++count; });
  { const Watchdog::Step guard = watchdog.step(1, "step"); }
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace tethys
