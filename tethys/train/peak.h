// Peak: what a device can do, from a data sheet or, for a machine that has none, from a large matmul that is timed.
//
//   Peak peak = peak_of(machine, cache_folder, /*shared=*/true);
//   peak.flops, peak.source           // 1.2e11, "a large float32 matmul, measured here"
//   raise(peak, 1.3e11);              // so much was reached
#pragma once

#include <string>

#include "base/file.h"
#include "train/machine.h"

namespace tethys {

struct Peak {
  double flops = 0;  // per second, of one device
  std::string source;
  Path kept = {};      // where a measured one is kept for later runs
  double devices = 1;  // that the one kept is of: virtual devices share a machine

  bool is_measured() const { return !kept.empty(); }
};

// That of the machine's devices. A measured one is the FLOP/s in float32 of a square matmul on one device: the best of
// a few runs now and of what earlier runs kept on this plugin and CPU, since another program may be busy just now.
Peak peak_of(const Machine& machine, const Path& cache_folder, bool shared);

// A measured peak is no lower than what was reached; later runs know it. One of a data sheet stays.
void raise(Peak& peak, double reached);

// What a file keeps; 0 if it keeps none.
double kept_peak(const Path& file);

}  // namespace tethys
