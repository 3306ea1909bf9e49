#include "runtime/watchdog.h"

#include <utility>

namespace tethys {

Watchdog::Watchdog(std::chrono::milliseconds limit, Callback on_stuck)
    : limit_(limit), on_stuck_(std::move(on_stuck)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Watchdog::Step Watchdog::step(int64_t step, std::string program) {
  {
    const std::lock_guard lock(mutex_);
    running_ = Stuck{step, std::move(program), limit_};
    deadline_ = std::chrono::steady_clock::now() + limit_;
  }
  changed_.notify_one();
  return Step(*this);
}

void Watchdog::disarm() {
  const std::lock_guard lock(mutex_);
  running_.reset();  // the thread sees it when it wakes at the old deadline
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (!running_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < deadline_) {
      changed_.wait_until(lock, std::chrono::steady_clock::time_point(deadline_));
    } else {
      const Stuck stuck = *std::exchange(running_, std::nullopt);
      lock.unlock();
      on_stuck_(stuck);
      lock.lock();
    }
  }
}

}  // namespace tethys
