// The peak of a machine without a figure in a data sheet: a large matmul, timed.
#pragma once

#include "base/file.h"
#include "pjrt/client.h"

namespace tethys {

// FLOP/s in float32 of a square matmul on one device, the best of a few runs. It is measured once for a plugin and CPU
// and then read from a file in `cache_folder`; one that cannot be read or written is measured again.
double measured_peak(const pjrt::Client& client, const Path& cache_folder);

}  // namespace tethys
