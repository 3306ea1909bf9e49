// The part of the step that reads tokens: loss and gradients, added up over microbatches.
#pragma once

#include "train/step.h"

namespace tethys {

struct LossAndGradients {
  Value loss;
  // One per stored parameter, at least float32, where the parameter lies; of one that is not trained, s32, the sum of
  // what the forwards left.
  std::vector<Value> gradients;
};

LossAndGradients record_gradients(LanguageModel& model, const std::vector<StoredParameter>& store,
                                  const StepInputs& inputs, const RematPolicy& remat);

}  // namespace tethys
