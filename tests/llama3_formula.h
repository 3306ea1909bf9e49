// The weights and tokens that PyTorch's recorded runs and ours both compute, so that no tensor is committed:
// tests/golden/llama3_torch/README.md has the formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "values/host_tensor.h"

namespace tethys::llama3_formula {

inline constexpr int64_t kRows = 4;
inline constexpr int64_t kSeqLen = 128;

inline uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

inline uint64_t fnv1a64(std::string_view text) {
  uint64_t h = 0xCBF29CE484222325;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return h;
}

// In [−1, 1), exact.
inline double uniform(std::string_view name, uint64_t i) {
  return static_cast<double>(splitmix64(fnv1a64(name) + i) >> 11) * 0x1p-52 - 1;
}

// Rounded to float32 whatever the dtype.
inline HostTensor weight(std::string_view name, const TensorType& type, bool tied) {
  const bool norm = name.ends_with("norm.weight");
  const bool raw = name == "tok_embeddings.weight" && !tied;
  const double root = std::sqrt(static_cast<double>(type.dims.back()));
  std::vector<double> values(static_cast<size_t>(type.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double u = uniform(name, i);
    values[i] = static_cast<float>(norm ? 1 + 0.1 * u : raw ? u : u / root);
  }
  return HostTensor::from_doubles(type, values);
}

struct Batch {
  HostTensor ids, labels;  // s32 [kRows, kSeqLen]
};

inline Batch batch(int64_t step, int64_t vocab, bool ignore_labels) {
  std::vector<int32_t> ids, labels;
  for (int64_t row = 0; row < kRows; ++row) {
    int64_t token = 0;
    for (int64_t position = 0; position <= kSeqLen; ++position) {
      const uint64_t h =
          splitmix64(fnv1a64("tokens") + static_cast<uint64_t>((step * kRows + row) * (kSeqLen + 1) + position));
      const auto candidate = [&](int shift) { return static_cast<int64_t>(((h >> shift) & 0xFFFF) % vocab); };
      token =
          position == 0 || h % 4 == 0 ? std::min({candidate(8), candidate(24), candidate(40)}) : (token + 1) % vocab;
      if (position < kSeqLen) ids.push_back(static_cast<int32_t>(token));
      if (position > 0) labels.push_back(ignore_labels && (h >> 4) % 8 == 0 ? -100 : static_cast<int32_t>(token));
    }
  }
  return {HostTensor::of<int32_t>({kRows, kSeqLen}, ids), HostTensor::of<int32_t>({kRows, kSeqLen}, labels)};
}

}  // namespace tethys::llama3_formula
