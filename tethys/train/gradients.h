// The part of the step that reads tokens: loss and gradients, added up over microbatches.
#pragma once

#include "train/step.h"

namespace tethys {

struct LossAndGradients {
  Value loss;
  std::vector<Value> gradients;  // one per stored parameter, at least float32, where the parameter lies
};

LossAndGradients record_gradients(LanguageModel& model, const std::vector<StoredParameter>& store,
                                  const StepInputs& inputs, const RematPolicy& remat);

}  // namespace tethys
