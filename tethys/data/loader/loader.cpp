#include "data/loader/loader.h"

#include <utility>

#include "base/error.h"

namespace tethys {

Loader::Loader(Make make, int64_t first_step, size_t ahead) : make_(std::move(make)), ahead_(ahead) {
  require(ahead >= 1, "a loader that is {} batches ahead", ahead);
  thread_ = std::thread([this, first_step] { work(first_step); });
}

Loader::~Loader() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Loader::work(int64_t step) {
  try {
    for (;; ++step) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || ready_.size() < ahead_; });
        if (stop_) return;
      }
      Batch batch = make_(step);
      std::lock_guard lock(mutex_);
      ready_.push_back(std::move(batch));
      changed_.notify_all();
    }
  } catch (...) {
    std::lock_guard lock(mutex_);
    error_ = std::current_exception();
    changed_.notify_all();
  }
}

Batch Loader::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || error_; });
  // Batches made before the failure come first.
  if (ready_.empty()) std::rethrow_exception(error_);
  Batch batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

}  // namespace tethys
