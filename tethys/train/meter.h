// Meter: the rates of a run, from how long its steps took.
//
//   Meter meter(setup, flops_model_of(config, *setup.model), {1e12, "TPU v9, bf16"});
//   meter.add(0.5, 0.01);     // a step, and what of it was waiting for data
//   meter.fill(metrics);      // the means since the last fill
//   meter.summary();          // of the whole run, but for its first step, which warms up
#pragma once

#include <cstdint>
#include <string>

#include "train/flops.h"
#include "train/metrics.h"
#include "train/setup.h"

namespace tethys {

// What a device can do, and how that is known.
struct Peak {
  double flops = 0;
  std::string source;
};

class Meter {
 public:
  Meter(const TrainingSetup& setup, const FlopsModel& flops, Peak peak);

  void add(double step_seconds, double data_seconds);
  // Fills in the rates of the steps since the last call; there must be one.
  void fill(StepMetrics& metrics);
  // Of `wall` seconds of steps, the device's programs took `device`.
  void set_device_seconds(double wall, double device) { host_share_ = wall > 0 ? 1 - device / wall : 0; }
  // 0 before the second step.
  double seconds_per_step() const { return all_steps_ > 1 ? all_seconds_ / static_cast<double>(all_steps_ - 1) : 0; }
  // Both ways of counting attention, named; empty before the second step.
  std::string summary() const;

 private:
  double tokens_;  // per step and device
  double flops_, causal_flops_;
  Peak peak_;
  double host_share_ = 0;
  int64_t all_steps_ = 0;
  double steps_ = 0, seconds_ = 0, data_seconds_ = 0, all_seconds_ = 0;
};

}  // namespace tethys
