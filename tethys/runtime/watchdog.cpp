#include "runtime/watchdog.h"

#include <fmt/format.h>

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

Watchdog::Step Watchdog::step(int64_t step, std::string program, std::string waits) {
  {
    const std::lock_guard lock(mutex_);
    running_ = Stuck{step, std::move(program), std::move(waits), limit_};
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

std::string to_string(const Watchdog::Stuck& stuck) {
  return fmt::format("step {} of program {} did not end within {} s; it waits for its devices{}{}", stuck.step,
                     stuck.program, std::chrono::duration<double>(stuck.limit).count(),
                     stuck.waits.empty() ? "" : " and for ", stuck.waits);
}

}  // namespace tethys
