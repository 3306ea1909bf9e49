// StepReport: the figures of a step that was compiled for a slice, as plain numbers: what is printed, what a JSON file
// holds, and the rows of a table over several of them. All that is not read off the compiler's answer is an estimate
// and called one.
//
//   const StepReport report = report_of("llama3_8b", config, step);
//   fmt::print("{}\n{}", report_text(report), report_table({report}));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/compile_step.h"
#include "estimate/step_estimate.h"

namespace tethys {

struct StepReport {
  std::string recipe;
  std::string topology;
  std::string mesh;
  int64_t devices = 0;
  int64_t tokens = 0;  // of a step, over all devices
  bool fits = false;
  StepMemory memory;
  std::vector<PeakBuffer> buffers;
  double usable_hbm = 0;
  std::string refusal;             // the compiler's words about a program too large
  std::vector<std::string> flags;  // that would help one that does not fit

  double formula_flops = 0;  // of one device's share of a step
  double xla_flops = 0;      // the compiler's count, each loop's body once; 0 where it did not compile
  int64_t chips = 0;
  double peak_flops = 0;                 // of a device
  double hbm_rate = 0;                   // of a device, bytes a second
  std::optional<StepEstimate> estimate;  // nothing where it did not compile
  size_t program_bytes = 0;
  double lowering_seconds = 0;
  double compile_seconds = 0;

  // By the estimated time of a step; 0 where there is none.
  double tokens_per_second_and_chip() const;
  double formula_mfu() const;
  double xla_mfu() const;  // of all FLOPs of the program, recomputed ones too
};

StepReport report_of(const std::string& recipe, const Config& config, CompiledStep& step);

std::string report_text(const StepReport& report);

// One line for each report, under a head.
std::string report_table(const std::vector<StepReport>& reports);

std::string report_json(const std::vector<StepReport>& reports);

}  // namespace tethys
