#include "train/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "config/config.h"
#include "train/metrics.h"
#include "train/setup.h"

namespace tethys {
namespace {

// On one line, without what a terminal would obey.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::vector<std::string> console_lines(const Config& config, const TrainingSetup& setup, std::string_view platform) {
  const FlopsModel flops = flops_model_of(config, *setup.model);
  return {fmt::format("model: {} with {}, {} compute, {} FLOP per token", config.get_string("model.name"),
                      parameters_text(flops), name_of(setup.precision.compute),
                      with_commas(std::llround(flops_per_token(flops, setup.shape.seq_len)))),
          fmt::format("devices: {} of {} ({})", counted(setup.degrees.devices(), "device"), platform,
                      to_string(setup.mesh)),
          fmt::format("step: {} of {} tokens in {}", counted(setup.rows_per_step(), "row"), setup.shape.seq_len,
                      setup.shape.microbatches == 1 ? "one microbatch"
                                                    : with_commas(setup.shape.microbatches) + " microbatches")};
}

std::string console_line(const StepMetrics& m) {
  return fmt::format(
      "step: {:2}  loss: {:8.5f}  grad_norm: {:7.4f}  memory: {:5.2f}GiB  tps: {}  tflops: {:.2f}  mfu: {:.2f}%",
      m.step, m.loss, m.grad_norm, m.memory_gib, with_commas(std::llround(m.tps)), m.tflops, 100 * m.mfu);
}

std::string console_line(const ValidationMetrics& m) {
  return fmt::format("validate step: {:2}  loss: {:8.5f}  unigram entropy: {:8.5f}  tokens: {}", m.step, m.loss,
                     m.entropy, with_commas(m.tokens));
}

std::string console_line(const SampleMetrics& m) {
  return fmt::format("sample step: {:2}  {} {}", m.step, quoted(m.prompt), quoted(m.text));
}

std::string clock_time(double seconds) {
  const int64_t whole = std::llround(std::max(seconds, 0.0));
  const int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string progress_bar(int64_t done, int64_t total, double seconds_per_step, int width) {
  const std::string figures =
      fmt::format("  {}/{}  {} left", done, total, clock_time(static_cast<double>(total - done) * seconds_per_step));
  const int64_t room = width - static_cast<int64_t>(figures.size()) - 2;
  if (room < 4 || total <= 0) return "";
  const int64_t filled = std::clamp<int64_t>(done * room / total, 0, room);
  std::string bar(static_cast<size_t>(filled), '=');
  if (filled > 0 && filled < room) bar.back() = '>';
  return fmt::format("[{:<{}}]{}", bar, room, figures);
}

}  // namespace tethys
