// The lines that a person watches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tethys {

class Config;
struct TrainingSetup;
struct StepMetrics;
struct ValidationMetrics;
struct SampleMetrics;

// What is trained and on what: model, devices, step.
std::vector<std::string> console_lines(const Config& config, const TrainingSetup& setup, std::string_view platform);

// "step:  1  loss:  8.04910  grad_norm:  1.3470  memory:  0.25GiB  tps: 1,234  tflops: 0.05  mfu: 61.00%"
std::string console_line(const StepMetrics& metrics);

// "validate step:  100  loss:  5.25000  unigram entropy:  6.50000  tokens: 100,000"
std::string console_line(const ValidationMetrics& metrics);

// "sample step:  100  "the cat" "sees no road.\n""
std::string console_line(const SampleMetrics& metrics);

// "1:05", "2:03:04"
std::string clock_time(double seconds);

// A bar that fills `width` columns: "[=====>     ]  50/100  0:30 left". Nothing of it where there is no room.
std::string progress_bar(int64_t done, int64_t total, double seconds_per_step, int width);

}  // namespace tethys
