// MetricsWriter: what a run reports, written to metrics.jsonl and, where it is asked for, to an event file of
// TensorBoard, under the same names.
//
//   MetricsWriter writer(folder.metrics(), {.tensorboard = true, .first_step = 21});
//   writer.add(metrics);
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/event_file.h"
#include "train/metrics.h"

namespace tethys {

// The numbers of a line of metrics.jsonl by name, in its order and without the step.
std::vector<std::pair<std::string, double>> scalars_of(const std::string& line);

class MetricsWriter {
 public:
  struct Options {
    bool tensorboard = false;
    int64_t first_step = 1;  // the next to be reported: what earlier event files say of it and later ones is hidden
  };
  // Appends to the file; event files lie beside it.
  MetricsWriter(const Path& path, const Options& options);

  void add(const StepMetrics& metrics) { write(metrics.step, to_json(metrics)); }
  void add(const ValidationMetrics& metrics) { write(metrics.step, to_json(metrics)); }
  // A text there, and no curve.
  void add(const SampleMetrics& metrics);

 private:
  void write(int64_t step, const std::string& line);

  LineFile lines_;
  std::optional<EventFile> events_;
};

}  // namespace tethys
