#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "config/config.h"

namespace tethys {
namespace {

Schedule::Decay parse_decay(const std::string& name) {
  if (name == "linear") return Schedule::Decay::Linear;
  if (name == "sqrt") return Schedule::Decay::Sqrt;
  if (name == "cosine") return Schedule::Decay::Cosine;
  internal_error("no decay {}", name);
}

double shape(Schedule::Decay decay, double progress) {
  switch (decay) {
    case Schedule::Decay::Linear: return 1 - progress;
    case Schedule::Decay::Sqrt: return 1 - std::sqrt(progress);
    case Schedule::Decay::Cosine: return 0.5 * (1 + std::cos(std::numbers::pi * progress));
  }
  internal_error("no such decay");
}

}  // namespace

Schedule schedule_of(const Config& config) {
  return {.total = config.get_int("training.steps"),
          .warmup = config.get_int("lr_scheduler.warmup_steps"),
          .decay_ratio = config.get_float("lr_scheduler.decay_ratio"),
          .decay = parse_decay(config.get_string("lr_scheduler.decay_type")),
          .min_factor = config.get_float("lr_scheduler.min_lr_factor")};
}

double lr_factor(const Schedule& s, int64_t step) {
  const int64_t warmup = std::min(s.warmup, s.total);
  const int64_t after_warmup = s.total - warmup;
  // Halves round to even, as in Python.
  const auto wished = static_cast<int64_t>(std::nearbyint(static_cast<double>(s.total) * s.decay_ratio));
  const int64_t decay = s.decay_ratio < 0 ? after_warmup : std::min(wished, after_warmup);
  const int64_t stable = s.total + 1 - warmup - decay;
  if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (step < warmup + stable) return 1;
  // A step after the last stays at the end of the decay; one that decays for no step has no end to go to.
  if (decay == 0) return 1;
  const auto decayed = static_cast<double>(step + 1 - (warmup + stable));
  const double progress = std::min(decayed / static_cast<double>(decay), 1.0);
  return s.min_factor + (1 - s.min_factor) * shape(s.decay, progress);
}

}  // namespace tethys
