// Which rows a step reads, where they lie and in which order, does not depend on the number of ranks.
#include <gmock/gmock.h>

#include <numeric>

#include "config/config.h"
#include "config/flags.h"
#include "data/loader/loader.h"
#include "train/degrees.h"
#include "training_testing.h"

namespace tethys::training_testing {
namespace {

constexpr int64_t kSeqLen = 5;
constexpr int64_t kGlobalRows = 16;
constexpr int64_t kLocalRows = 4;  // so that 1, 2 and 4 ranks take 4, 2 and 1 microbatches

using Row = std::vector<int32_t>;

struct Ranks {
  const char* name;
  std::vector<std::string> flags;
  int64_t devices;
  int64_t data;  // ranks that read different rows
};

const Ranks kOne{"1 rank", {}, 1, 1};
const Ranks kTwo{"2 ranks", {}, 2, 2};
const Ranks kFour{"4 ranks", {}, 4, 4};
const Ranks kReplicas{"2 replicas of 2 shards", {"--parallelism.data_parallel_replicate_degree", "2"}, 4, 4};
const Ranks kTensor{"2 ranks of 2 tensor ranks", {"--parallelism.tensor_parallel_degree", "2"}, 4, 2};

// 75 rows, and 16 to a step: epochs end within steps. Each token is unlike all others, so a row says where it was cut.
TokenStream counting() {
  std::vector<uint32_t> tokens(75 * kSeqLen + 1);
  std::iota(tokens.begin(), tokens.end(), 0U);
  return TokenStream::of(std::move(tokens), {0}, "counting");
}

// The rows that the devices hold in steps from `first` on, in the order of the list that all ranks share: microbatch by
// microbatch, in each of them rank by rank.
std::vector<Row> rows_held(const Ranks& ranks, int64_t first, int64_t steps) {
  Config config;
  apply_flags(config, ranks.flags);
  const Origin origin{Origin::Source::Flag, "test"};
  config.set("training.global_batch_size", kGlobalRows, origin);
  config.set("training.local_batch_size", kLocalRows, origin);
  config.set("training.seq_len", kSeqLen, origin);
  const Degrees degrees = degrees_of(config, ranks.devices);
  const StepRows shape = step_rows_of(config, degrees);
  EXPECT_EQ(shape.accumulation, kGlobalRows / kLocalRows / ranks.data);
  const BatchMaker maker(counting(),
                         {.seq_len = kSeqLen, .accumulation = shape.accumulation, .batch = shape.rows, .seed = 3});
  Loader loader([&](int64_t step) { return maker.make(step); }, first);

  const Executor executor(cpu_client(ranks.devices), mesh_of(degrees), {});
  const int64_t copies = ranks.devices / ranks.data;  // tensor ranks, the inner axis, hold the same rows
  std::vector<Row> rows;
  for (int64_t step = 0; step < steps; ++step) {
    const Array tokens = to_device(executor.devices(), loader.next().tokens, batch_placement(executor.mesh(), 1));
    std::vector<HostTensor> parts;
    for (int64_t device = 0; device < ranks.devices; ++device) {
      parts.push_back(read_shard(tokens, device));
      EXPECT_EQ(parts.back().type().dims, (Dims{shape.accumulation, kLocalRows, kSeqLen}));
      EXPECT_TRUE(device % copies == 0 || parts.back() == parts[parts.size() - 2]);
    }
    for (int64_t microbatch = 0; microbatch < shape.accumulation; ++microbatch) {
      for (int64_t rank = 0; rank < ranks.data; ++rank) {
        const std::span<const int32_t> ids = parts[static_cast<size_t>(rank * copies)].as<int32_t>();
        for (int64_t row = 0; row < kLocalRows; ++row) {
          const auto begin = ids.begin() + (microbatch * kLocalRows + row) * kSeqLen;
          rows.emplace_back(begin, begin + kSeqLen);
        }
      }
    }
  }
  return rows;
}

TEST(TrainingOrder, IsTheSameOnAnyNumberOfRanks) {
  const std::vector<Row> alone = rows_held(kOne, 0, 10);
  ASSERT_EQ(alone.size(), 10 * kGlobalRows);
  // It is a shuffle: the first 75 rows are all that there are, and they do not come as they stand.
  std::vector<Row> epoch(alone.begin(), alone.begin() + 75);
  EXPECT_FALSE(std::is_sorted(epoch.begin(), epoch.end()));
  std::sort(epoch.begin(), epoch.end());
  for (int32_t row = 0; row < 75; ++row) EXPECT_EQ(epoch[static_cast<size_t>(row)][0], row * kSeqLen);
  for (const Ranks& ranks : {kTwo, kFour, kReplicas, kTensor}) EXPECT_EQ(rows_held(ranks, 0, 10), alone) << ranks.name;
}

TEST(TrainingOrder, GoesOnAfterAResumeWithAnotherNumberOfRanks) {
  const std::vector<Row> never_stopped = rows_held(kOne, 0, 10);
  std::vector<Row> resumed;
  const std::vector<std::pair<Ranks, int64_t>> legs = {{kTwo, 3}, {kFour, 2}, {kOne, 1}, {kTensor, 2}, {kReplicas, 2}};
  for (int64_t step = 0; const auto& [ranks, steps] : legs) {
    const std::vector<Row> rows = rows_held(ranks, step, steps);
    resumed.insert(resumed.end(), rows.begin(), rows.end());
    step += steps;
  }
  EXPECT_EQ(resumed, never_stopped);
}

}  // namespace
}  // namespace tethys::training_testing
