// Made-up rows of a step for tests that compare ways of computing it.
#pragma once

#include <cstdint>
#include <vector>

#include "values/host_tensor.h"
#include "values/label.h"

namespace tethys {

struct PackedRows {
  HostTensor tokens, labels, positions, segments;
};

// Packed documents of several lengths, and another share of ignored labels in every row, so that ranks and microbatches
// see different numbers of valid tokens.
inline PackedRows packed_rows(int64_t step, int64_t count, int64_t length, int64_t vocabulary) {
  std::vector<int32_t> tokens, labels, positions, segments;
  for (int64_t r = 0; r < count; ++r) {
    int32_t position = 0, segment = 0;
    for (int64_t s = 0; s < length; ++s) {
      const int64_t mixed = (step * 131 + r * 29 + s * 17 + (r * s) % 7) % vocabulary;
      if (s > 0 && s % (3 + r) == 0) position = 0, ++segment;
      tokens.push_back(static_cast<int32_t>(mixed));
      labels.push_back(s % (2 + r) == 1 ? kIgnoredLabel : static_cast<int32_t>((mixed * 5 + 3) % vocabulary));
      positions.push_back(position++);
      segments.push_back(segment);
    }
  }
  const Dims dims{count, length};
  return {HostTensor::of<int32_t>(dims, tokens), HostTensor::of<int32_t>(dims, labels),
          HostTensor::of<int32_t>(dims, positions), HostTensor::of<int32_t>(dims, segments)};
}

}  // namespace tethys
