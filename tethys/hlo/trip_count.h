// How often a loop runs, read off its condition and body: a final program no longer says it.
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/module.h"

namespace tethys::hlo {

// Of a `while` of `computation`, whose condition compares a counter with a bound and whose body adds a step to it. Some
// compilers give a body two iterations, or run one ahead of the loop: then the step is 2, or the start is. Nothing if
// the loop is of another kind.
std::optional<int64_t> trip_count(const Module& module, const Computation& computation, const Instruction& loop);

}  // namespace tethys::hlo
