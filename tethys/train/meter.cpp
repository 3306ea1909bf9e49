#include "train/meter.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/number.h"

namespace tethys {

Meter::Meter(const TrainingSetup& setup, const FlopsModel& flops, Peak peak)
    : tokens_(static_cast<double>(setup.tokens_per_step()) / static_cast<double>(setup.degrees.devices())),
      flops_(flops_per_token(flops, setup.shape.seq_len)),
      causal_flops_(flops_per_token(flops, setup.shape.seq_len, CountedScores::Causal)),
      peak_(std::move(peak)) {}

void Meter::add(double step_seconds, double data_seconds) {
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
  metrics.mfu = metrics.tps * flops_ / peak_.flops;
  steps_ = seconds_ = data_seconds_ = 0;
}

std::string Meter::summary() const {
  if (all_steps_ < 2) return "";
  const double tps = tokens_ / seconds_per_step();
  return fmt::format(
      "{} tokens/s per device; MFU {:.2f}% counting all scores (torchtitan), {:.2f}% the causal half (MaxText), of "
      "{:.3f} TFLOP/s ({}); {:.1f}% of the time outside of the device's programs",
      with_commas(std::llround(tps)), 100 * tps * flops_ / peak_.flops, 100 * tps * causal_flops_ / peak_.flops,
      peak_.flops * 1e-12, peak_.source, 100 * host_share_);
}

}  // namespace tethys
