// Threefry-2x32 with 20 rounds (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011), from ordinary
// integer ops: 64 random bits are a function of a key and a counter, on any device, mesh and compiler.
#pragma once

#include "ops/tensor.h"

namespace tethys {

// Two u32 words, of one shape.
struct Words {
  Tensor first, second;
};

// The bits of every counter under its key. Shapes broadcast.
Words threefry2x32(const Words& key, const Words& counter);

// Standard uniform in (−1, 1), no end included, of dtype float32 or float64; the float32 values are those of float64
// with fewer digits.
Tensor symmetric_uniform(const Words& bits, DType dtype);

}  // namespace tethys
