// Whether generation fits into the memory of the machine, as fit.h says it of a run.
#pragma once

#include "train/fit.h"
#include "train/generation.h"

namespace tethys {

// DoesNotFitError if parameters, cache and what the programs need besides are more than `physical` bytes. `length` is
// that of the text, the prompt's tokens included.
void check_generation_fits(const GenerationPrograms& programs, int64_t physical, int64_t length, const Config& config);

}  // namespace tethys
