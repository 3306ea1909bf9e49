// Sequence: what every block of a model reads besides its activations: where each token stands and in which document.
#pragma once

#include <vector>

#include "nn/rotary.h"

namespace tethys {

struct Sequence {
  Tensor positions_BS, segments_BS;  // s32
  Rotations rotations;

  // As the constants of a loop over layers, and back.
  std::vector<Tensor> pack() const { return {positions_BS, segments_BS, rotations.cos_BSE, rotations.sin_BSE}; }
  static Sequence unpack(const std::vector<Tensor>& packed) {
    return {packed.at(0), packed.at(1), {packed.at(2), packed.at(3)}};
  }
};

}  // namespace tethys
