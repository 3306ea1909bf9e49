// TextSampler: what the model says while it is trained. It runs beside the training on one device, by programs of its
// own, and takes the weights through the host, whatever mesh they lie on.
//
//   TextSampler sampler(config, machine, options);              // compiles
//   SampleMetrics sample = sampler.run(state, setup, 100);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "train/generation.h"
#include "train/machine.h"
#include "train/metrics.h"
#include "train/state.h"

namespace tethys {

class TextSampler {
 public:
  // By the options metrics.sample_*, which check() has let pass.
  TextSampler(const Config& config, const Machine& machine, const MachineOptions& options);

  // `step` is what the result is labelled with. The same weights say the same.
  SampleMetrics run(const TrainingState& state, const TrainingSetup& setup, int64_t step);

  // UserError if there is no tokenizer, the prompt is longer than a row, or the text than the model takes.
  static void check(const Config& config);

 private:
  Tokenizer tokenizer_;
  std::string prompt_;
  std::vector<int32_t> ids_;  // of the prompt
  int64_t tokens_;            // that are added at most
  Sampling sampling_;
  TrainingSetup setup_;
  std::unique_ptr<Executor> executor_;
  GenerationPrograms programs_;
};

}  // namespace tethys
