#include "train/meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/number.h"

namespace tethys {
namespace {

// Of few steps a rate says little.
constexpr int64_t kEnoughSteps = 20;

}  // namespace

Meter::Meter(const TrainingSetup& setup, const FlopsModel& flops, Peak peak, std::function<double()> device_seconds)
    : tokens_(static_cast<double>(setup.tokens_per_step()) / static_cast<double>(setup.degrees.devices())),
      flops_(flops_per_token(flops, setup.shape.seq_len)),
      causal_flops_(flops_per_token(flops, setup.shape.seq_len, CountedScores::Causal)),
      peak_(std::move(peak)),
      device_seconds_(std::move(device_seconds)) {}

void Meter::go_on(Clock::time_point now) {
  since_ = last_ = now;
  device_since_ = device_seconds_();
}

void Meter::pause(Clock::time_point now) {
  wall_seconds_ += seconds_between(since_, now);
  in_device_ += device_seconds_() - device_since_;
}

void Meter::add(Clock::time_point done, double data_seconds) {
  const double step_seconds = seconds_between(last_, done);
  last_ = done;
  ++steps_;
  seconds_ += step_seconds;
  data_seconds_ += data_seconds;
  if (all_steps_++ > 0) all_seconds_ += step_seconds;
}

void Meter::fill(StepMetrics& metrics) {
  require(steps_ > 0, "rates of no step");
  metrics.step_seconds = seconds_ / steps_;
  metrics.data_seconds = data_seconds_ / steps_;
  metrics.tps = tokens_ / metrics.step_seconds;
  metrics.tflops = metrics.tps * flops_ * 1e-12;
  metrics.mfu = share_of_peak(metrics.tps * flops_);
  steps_ = seconds_ = data_seconds_ = 0;
}

void Meter::end(Clock::time_point now) {
  pause(now);
  if (all_steps_ >= kEnoughSteps) raise(peak_, tokens_ / seconds_per_step() * flops_);
}

double Meter::share_of_peak(double flops) const {
  // More than the measured peak: the matmul was timed beside other work then.
  return peak_.is_measured() ? std::min(flops / peak_.flops, 1.0) : flops / peak_.flops;
}

std::string Meter::summary() const {
  if (all_steps_ < 2) return "";
  const double tps = tokens_ / seconds_per_step();
  const double host_share = wall_seconds_ > 0 ? 1 - in_device_ / wall_seconds_ : 0;
  return fmt::format(
      "{} tokens/s per device; MFU {:.2f}% counting all scores (torchtitan), {:.2f}% the causal half (MaxText), of "
      "{:.3f} TFLOP/s ({}); {:.1f}% of the time outside of the device's programs",
      with_commas(std::llround(tps)), 100 * share_of_peak(tps * flops_), 100 * share_of_peak(tps * causal_flops_),
      peak_.flops * 1e-12, peak_.source, 100 * host_share);
}

}  // namespace tethys
