// Metrics: what a run reports, as lines of JSON in metrics.jsonl. A step's line has the keys
//
//   step loss grad_norm lr tokens tps tflops mfu memory_gib step_seconds data_seconds
//
// a validation's line step, validation_loss, validation_tokens, unigram_entropy, and that of a sample of the model's
// text step, prompt, sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"

namespace tethys {

struct StepMetrics {
  int64_t step = 0;  // from 1
  double loss = 0;
  double grad_norm = 0;  // before clipping
  double lr = 0;
  int64_t tokens = 0;       // seen since the start of the run
  double tps = 0;           // tokens per second and device
  double tflops = 0;        // per device
  double mfu = 0;           // share of the device's peak, from 0 to 1; attention counted in full
  double memory_gib = 0;    // most that one device held
  double step_seconds = 0;  // mean over the steps since the last line
  double data_seconds = 0;  // of these, waiting for data
  bool operator==(const StepMetrics&) const = default;
};

struct ValidationMetrics {
  int64_t step = 0;
  double loss = 0;     // over all tokens
  int64_t tokens = 0;  // that have a label
  double entropy = 0;  // of single tokens of the text, in nats
  bool operator==(const ValidationMetrics&) const = default;
};

// What the model said.
struct SampleMetrics {
  int64_t step = 0;
  std::string prompt;
  std::string text;  // that follows
  bool operator==(const SampleMetrics&) const = default;
};

struct RunMetrics {
  std::vector<StepMetrics> steps;
  std::vector<ValidationMetrics> validations;
  std::vector<SampleMetrics> samples;
};

// Without a line break.
std::string to_json(const StepMetrics& metrics);
std::string to_json(const ValidationMetrics& metrics);
std::string to_json(const SampleMetrics& metrics);

// UserError, with path and line, for a line that is none of these.
RunMetrics read_metrics(const Path& path);

// Drops the lines of steps after `step`, and a last line that a killed run left unfinished. No file is fine.
void cut_back_metrics(const Path& path, int64_t step);

// Appends lines to a file; each is there when append returns, so that a kill loses none.
class LineFile {
 public:
  explicit LineFile(const Path& path) : file_(path) {}
  void append(const std::string& line) { file_.append(line + "\n"); }

 private:
  AppendedFile file_;
};

}  // namespace tethys
