// OrderedBatches: items on which several threads work, and whose results are used in the order of the items, a batch at
// a time: however many there are, no more than a batch is in memory.
//
//   OrderedBatches<std::string, Ids> batches(0, [&](int worker, const std::string& text) {
//     return encoders[worker].encode(text);
//   }, [&](std::span<const std::string>, std::span<const Ids> of_batch) {
//     for (const Ids& ids : of_batch) write(ids);
//   });
//   while (reader.next(text)) batches.add(std::move(text), text.size());
//   batches.finish();
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "data/parallel.h"

namespace tethys {

template <typename Item, typename Result>
class OrderedBatches {
 public:
  // `worker` is that of parallel_for.
  using Work = std::function<Result(int worker, const Item&)>;
  // Called with a batch, by the thread that adds.
  using Use = std::function<void(std::span<const Item>, std::span<const Result>)>;

  OrderedBatches(int threads, Work work, Use use) : threads_(threads), work_(std::move(work)), use_(std::move(use)) {}

  // `bytes` is about what the item takes in memory, or will when it is worked on.
  void add(Item item, int64_t bytes) {
    constexpr size_t kMostItems = 4096;
    constexpr int64_t kMostBytes = int64_t{8} << 20;
    items_.push_back(std::move(item));
    bytes_ += bytes;
    if (items_.size() >= kMostItems || bytes_ >= kMostBytes) finish();
  }

  // Works on what is left; nothing may be.
  void finish() {
    if (items_.empty()) return;
    std::vector<Result> results(items_.size());
    const Clock::time_point begin = Clock::now();
    parallel_for(static_cast<int64_t>(items_.size()), threads_, [&](int worker, int64_t index) {
      const auto i = static_cast<size_t>(index);
      results[i] = work_(worker, items_[i]);
    });
    seconds_ += seconds_since(begin);
    use_(items_, results);
    items_.clear();
    bytes_ = 0;
  }

  // Of work alone.
  double seconds() const { return seconds_; }

 private:
  int threads_;
  Work work_;
  Use use_;
  std::vector<Item> items_;
  int64_t bytes_ = 0;
  double seconds_ = 0;
};

}  // namespace tethys
