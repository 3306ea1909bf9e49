// Where the host's time goes. What a step spends outside of the device's program is its wall time less `launch` and
// `wait`: a CPU plugin runs small programs on the calling thread, inside of the launch.
//
//   const TimeAccounts before = executor.time();
//   …a step…
//   seconds - (executor.time() - before).device();
#pragma once

#include <atomic>
#include <chrono>

namespace tethys {

struct TimeAccounts {
  double compile = 0;   // and loading from the cache
  double launch = 0;    // handing programs to the device
  double wait = 0;      // for results
  double transfer = 0;  // copies between host and device

  double device() const { return launch + wait; }
  TimeAccounts operator-(const TimeAccounts& o) const {
    return {compile - o.compile, launch - o.launch, wait - o.wait, transfer - o.transfer};
  }
};

// What several threads may add to.
struct TimeBook {
  std::atomic<double> compile = 0;
  std::atomic<double> launch = 0;
  std::atomic<double> wait = 0;
  std::atomic<double> transfer = 0;

  TimeAccounts read() const { return {compile, launch, wait, transfer}; }
};

// Adds the time of its life to one account.
class Timed {
 public:
  explicit Timed(std::atomic<double>& account) : account_(account) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { account_ += seconds(); }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::atomic<double>& account_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tethys
