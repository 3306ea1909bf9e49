// Meter: the rates of a run, from when its steps were done.
//
//   Meter meter(setup, flops_model_of(config, *setup.model), {1e12, "TPU v9, bf16"}, device_seconds);
//   meter.go_on();                      // the steps begin
//   meter.add(Clock::now(), 0.01);      // a step is done, and what of its time was waiting for data
//   meter.fill(metrics);                // the means since the last fill
//   meter.pause();                      // what follows is not of the steps: a validation, a save
//   meter.end();                        // all steps are done
//   meter.summary();                    // of the whole run, but for its first step, which warms up
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "train/flops.h"
#include "train/metrics.h"
#include "train/peak.h"
#include "train/setup.h"

namespace tethys {

class Meter {
 public:
  // `device_seconds` tells how long the device's programs have taken so far.
  Meter(const TrainingSetup& setup, const FlopsModel& flops, Peak peak, std::function<double()> device_seconds);

  void go_on(Clock::time_point now = Clock::now());
  void pause(Clock::time_point now = Clock::now());
  // A step took from when the one before was done, or the steps went on, until then.
  void add(Clock::time_point done, double data_seconds);
  // Fills in the rates of the steps since the last call; there must be one.
  void fill(StepMetrics& metrics);
  // A measured peak that a run of some length passed becomes what the run reached.
  void end(Clock::time_point now = Clock::now());
  // 0 before the second step.
  double seconds_per_step() const { return all_steps_ > 1 ? all_seconds_ / static_cast<double>(all_steps_ - 1) : 0; }
  // Both ways of counting attention, named; empty before the second step.
  std::string summary() const;

 private:
  double share_of_peak(double flops) const;

  double tokens_;  // per step and device
  double flops_, causal_flops_;
  Peak peak_;
  std::function<double()> device_seconds_;
  int64_t all_steps_ = 0;
  double steps_ = 0, seconds_ = 0, data_seconds_ = 0, all_seconds_ = 0;
  Clock::time_point last_;                   // when the step before was done
  Clock::time_point since_;                  // when the steps went on
  double device_since_ = 0;                  // what device_seconds told then
  double wall_seconds_ = 0, in_device_ = 0;  // of the steps until they paused
};

}  // namespace tethys
