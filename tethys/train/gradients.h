// The part of the step that reads tokens: loss and gradients, added up over microbatches.
#pragma once

#include "train/step.h"

namespace tethys {

LossAndGradients record_gradients(LanguageModel& model, const std::vector<StoredParameter>& store,
                                  const StepInputs& inputs, const RematPolicy& remat);

// The same in parts, for a step of several programs.

// 1 / the number of labels that count in all microbatches, which each of their losses is multiplied by.
Value record_inverse_count(Value labels_ABS, const std::vector<StoredParameter>& store);

struct RecordedMicrobatch {
  LossAndGradients sums;
  NodeId backward;  // the first node of the backward
};
// A of the inputs is 1.
RecordedMicrobatch record_microbatch(LanguageModel& model, const std::vector<StoredParameter>& store,
                                     const StepInputs& inputs, Value inverse, const RematPolicy& remat);

// Each gradient where its parameter lies; nothing to do for those that have been reduced by microbatch. Like those,
// sums travel in the dtype that the parametrization says.
std::vector<Value> reduced(const std::vector<Value>& gradients, const std::vector<StoredParameter>& store,
                           const std::vector<Value>& parameters);

}  // namespace tethys
