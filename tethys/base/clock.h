// The clock that times are measured with: it never goes back.
//
//   const Clock::time_point begin = Clock::now();
//   work();
//   const double took = seconds_since(begin);
#pragma once

#include <chrono>

namespace tethys {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}
inline double seconds_since(Clock::time_point begin) { return seconds_between(begin, Clock::now()); }

}  // namespace tethys
