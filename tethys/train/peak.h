// The peak of a machine without a figure in a data sheet: a large matmul, timed.
#pragma once

#include "base/file.h"
#include "pjrt/client.h"

namespace tethys {

// FLOP/s in float32 of a square matmul on one device: the best of a few runs now and of those of earlier processes on
// this plugin and CPU, which a file in `cache_folder` keeps, since another program may be busy just now.
double measured_peak(const pjrt::Client& client, const Path& cache_folder);

}  // namespace tethys
