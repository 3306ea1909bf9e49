// Whether generation fits into the memory of the machine, as fit.h says it of a run.
#pragma once

#include "train/fit.h"
#include "train/generation.h"

namespace tethys {

// Before anything is compiled: DoesNotFitError if the parameters alone are more than `physical` bytes.
void check_parameters_fit(const TrainingSetup& setup, int64_t physical, const Config& config);
// With the cache and what the programs need besides. `length` is that of the text, the prompt's tokens included.
void check_generation_fits(const GenerationPrograms& programs, int64_t physical, int64_t length, const Config& config);

}  // namespace tethys
