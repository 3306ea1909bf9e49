// Validation: the loss over held-out text, summed over all its tokens and divided by their number.
#pragma once

#include <functional>
#include <memory>

#include "data/loader/batch.h"
#include "data/progress.h"
#include "train/metrics.h"
#include "train/state.h"

namespace tethys {

class Validator {
 public:
  // `steps` batches, or all of the text if it is -1; its end is padded with rows that do not count. Compiles here.
  // UserError if the text has no full row.
  Validator(Executor& executor, const TrainingSetup& setup, const TokenStream& text, int64_t steps);

  // What the compiler planned for one device.
  const pjrt::MemoryStats& memory() const { return program_->memory(); }

  // `step` is what the result is labelled with. The progress counts batches.
  ValidationMetrics run(const std::vector<Array>& parameters, int64_t step, const Progress& progress = {});

  // Calls `use` with each label that counts.
  void for_each_label(const std::function<void(int32_t)>& use) const;

 private:
  Executor& executor_;
  TokenStream text_;
  BatchMaker batches_;
  double entropy_;
  std::vector<int64_t> order_;  // of a row's columns
  std::shared_ptr<const CompiledProgram> program_;
};

}  // namespace tethys
