#include "data/loader/loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>

#include "base/error.h"

namespace tethys {
namespace {

Batch empty_batch(int64_t step) {
  Batch batch;
  batch.step = step;
  return batch;
}

TEST(Loader, GivesTheBatchesFromItsFirstStepOn) {
  std::vector<uint32_t> tokens(1001);
  std::iota(tokens.begin(), tokens.end(), 0U);
  BatchMaker maker(TokenStream::of(tokens, {0, 100, 500}, "counting"), {.seq_len = 5, .accumulation = 2, .batch = 3});
  Loader loader([maker](int64_t step) { return maker.make(step); }, 17);
  for (int64_t step = 17; step < 40; ++step) {
    Batch got = loader.next(), expected = maker.make(step);
    EXPECT_EQ(got.step, step);
    EXPECT_EQ(got.tokens, expected.tokens);
    EXPECT_EQ(got.labels, expected.labels);
    EXPECT_EQ(got.positions, expected.positions);
    EXPECT_EQ(got.segment_ids, expected.segment_ids);
  }
}

TEST(Loader, ThrowsWhatFailedAfterTheBatchesBeforeIt) {
  auto make = [](int64_t step) {
    if (step == 2) user_error("step {} cannot be read", step);
    return empty_batch(step);
  };
  Loader loader(make, 0);
  EXPECT_EQ(loader.next().step, 0);
  EXPECT_EQ(loader.next().step, 1);
  EXPECT_THROW(loader.next(), UserError);
  EXPECT_THROW(loader.next(), UserError);
}

TEST(Loader, StaysAsFarAheadAsItIsTold) {
  std::atomic<int> made = 0;
  Loader loader(
      [&](int64_t step) {
        ++made;
        return empty_batch(step);
      },
      0, 3);
  for (int i = 0; i < 10; ++i) {
    loader.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_LE(made, i + 1 + 3);
  }
  // It does get ahead, without being asked.
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (made < 13 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(made, 13);
}

TEST(Loader, StopsWithBatchesThatNobodyTook) {
  for (int round = 0; round < 50; ++round) Loader loader(empty_batch, 0);
}

}  // namespace
}  // namespace tethys
