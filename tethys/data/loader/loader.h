// Loader: makes the batches of the steps to come on a thread of its own, a few ahead. Resuming is beginning at another
// step. What fails on the thread is thrown by next(), and by each next() after it.
//
//   Loader loader([maker](int64_t step) { return maker.make(step); }, first_step);
//   Batch batch = loader.next();
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "data/loader/batch.h"

namespace tethys {

class Loader {
 public:
  using Make = std::function<Batch(int64_t step)>;

  // `make` is called on the loader's thread only. At most `ahead` batches wait to be taken.
  Loader(Make make, int64_t first_step, size_t ahead = 2);
  // Stops the thread; waits for the batch in work, at most.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The batch of the next step: first_step, then one more each time.
  Batch next();

 private:
  void work(int64_t step);

  Make make_;
  size_t ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::exception_ptr error_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tethys
