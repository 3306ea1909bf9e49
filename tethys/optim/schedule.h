// The learning rate over the steps of a run: linear warm-up, constant, decay. A function on the host; the rate is an
// input of the step's program.
//
//   lr_factor({.total = 10, .warmup = 2}, 3);   // 0.875
#pragma once

#include <cstdint>

namespace tethys {

class Config;

struct Schedule {
  enum class Decay : uint8_t { Linear, Sqrt, Cosine };
  int64_t total = 1;
  int64_t warmup = 0;
  double decay_ratio = -1;  // share of the steps that decay; −1: all after the warm-up
  Decay decay = Decay::Linear;
  double min_factor = 0;  // at which the decay ends
};

Schedule schedule_of(const Config& config);

// The share of the peak rate at step `step`, which counts from 0.
double lr_factor(const Schedule& schedule, int64_t step);

}  // namespace tethys
