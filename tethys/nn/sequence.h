// Sequence: what every block of a model reads besides its activations: where each token stands, in which document, and
// what is known of the text before.
#pragma once

#include <vector>

#include "nn/kv_cache.h"
#include "nn/rotary.h"

namespace tethys {

struct Sequence {
  Tensor positions_BS, segments_BS;  // s32
  Rotations rotations;
  KvCache* cache = nullptr;  // where this call's keys and values are kept; null: nowhere
  size_t layer = 0;          // of the cache

  // As the constants of a loop over layers, and back.
  std::vector<Tensor> pack() const { return {positions_BS, segments_BS, rotations.cos_BSE, rotations.sin_BSE}; }
  static Sequence unpack(const std::vector<Tensor>& packed) {
    return {packed.at(0), packed.at(1), {packed.at(2), packed.at(3)}, nullptr, 0};
  }
};

}  // namespace tethys
