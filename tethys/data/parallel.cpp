#include "data/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tethys {

int thread_count(int threads) {
  if (threads > 0) return threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(int64_t count, int threads, const std::function<void(int worker, int64_t index)>& body) {
  std::atomic<int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  int64_t error_index = count;
  std::exception_ptr error;

  // Indices are claimed in order and every claimed one is finished, so the lowest failing index is always reached.
  auto work = [&](int worker) {
    while (!failed) {
      int64_t index = next++;
      if (index >= count) return;
      try {
        body(worker, index);
      } catch (...) {
        std::lock_guard lock(mutex);
        failed = true;
        if (index < error_index) {
          error_index = index;
          error = std::current_exception();
        }
      }
    }
  };

  int workers = static_cast<int>(std::min<int64_t>(thread_count(threads), std::max<int64_t>(count, 1)));
  {
    std::vector<std::jthread> others;
    for (int worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
    work(0);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace tethys
