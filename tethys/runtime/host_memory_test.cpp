#include "runtime/host_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/units.h"

namespace tethys {
namespace {

TEST(HostMemory, TheLimitIsAQuarterAboveTheNeedAndLeavesRoomForTheRun) {
  EXPECT_EQ(resident_limit(4 * kGiB, 3 * kGiB, 64 * kGiB), 5 * kGiB + 256 * kMiB);
  // 20 GiB less a tenth, less what the run will allocate.
  EXPECT_EQ(resident_limit(14 * kGiB, 12 * kGiB, 20 * kGiB), 6 * kGiB);
}

TEST(HostMemory, IsWhatTheContainerMayHave) {
  EXPECT_EQ(limit_of("max", 64), 64);
  EXPECT_EQ(limit_of("32\n", 64), 32);
  EXPECT_EQ(limit_of("128", 64), 64);
}

// Blocks of malloc that are freed with one left in their middle, as a run's temporaries are.
TEST(HostMemory, WhatIsFreedIsKeptAndGivenBackOnceItIsTooMuch) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's malloc keeps nothing";
#endif
  constexpr int64_t kBlock = 16 * kMiB;
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) {
    blocks.push_back(std::malloc(kBlock));
    std::memset(blocks.back(), 1, kBlock);
  }
  void* last = std::malloc(kMiB);
  for (void* block : blocks) std::free(block);
  const int64_t before = resident_memory();
  EXPECT_GT(before, 40 * kBlock);
  EXPECT_FALSE(trim_freed_memory(before, 0));
  EXPECT_TRUE(trim_freed_memory(0, 0));
  EXPECT_LT(resident_memory(), before - 35 * kBlock);
  std::free(last);
}

TEST(HostMemory, IsAwaitedWhereAnotherThreadFreesIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's malloc does not say";
#endif
  using std::chrono::milliseconds;
  constexpr int64_t kBlock = 100 * kMiB;
  const int64_t before = allocated_memory();
  void* block = std::malloc(kBlock);
  EXPECT_GE(allocated_memory(), before + kBlock);
  EXPECT_FALSE(wait_until_allocated(before + kBlock / 2, milliseconds(5)));
  std::thread other([block] {
    std::this_thread::sleep_for(milliseconds(20));
    std::free(block);
  });
  EXPECT_TRUE(wait_until_allocated(before + kBlock / 2, milliseconds(20000)));
  other.join();
}

}  // namespace
}  // namespace tethys
