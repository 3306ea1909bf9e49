// Watchdog: a deadline for each step. When one passes, a callback hears which step and program did not end; a device
// that is stuck cannot be talked to any more, so the callback usually ends the process.
//
//   Watchdog watchdog(std::chrono::minutes(10), [](const Watchdog::Stuck& s) { …print to_string(s), exit 4… });
//   for (…) { const Watchdog::Step guard = watchdog.step(step, "train_step", program.waits); … }
//
// Nobody sees inside of a running program, so the message lists all collectives and handlers that it may wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace tethys {

class Watchdog {
 public:
  struct Stuck {
    int64_t step = 0;
    std::string program;
    std::string waits;  // what the program waits for: Program::waits
    std::chrono::milliseconds limit{};
  };
  // Runs on the watchdog's own thread, at most once per step.
  using Callback = std::function<void(const Stuck&)>;

  Watchdog(std::chrono::milliseconds limit, Callback on_stuck);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // The deadline runs while this lives.
  class Step {
   public:
    explicit Step(Watchdog& watchdog) : watchdog_(watchdog) {}
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { watchdog_.disarm(); }

   private:
    Watchdog& watchdog_;
  };
  [[nodiscard]] Step step(int64_t step, std::string program, std::string waits = "");

 private:
  void disarm();
  void watch();

  const std::chrono::milliseconds limit_;
  const Callback on_stuck_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Stuck> running_;
  std::chrono::steady_clock::time_point deadline_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses all others
};

// "step 7 of program train_step did not end within 600 s; it waits for its devices and for all_gather ×12, …"
std::string to_string(const Watchdog::Stuck& stuck);

}  // namespace tethys
