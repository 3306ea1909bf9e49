// Rotary position embedding (Su et al., RoFormer, 2021), rotate-half: element i of the first half of a head turns with
// element i of the second. With Llama 3's stretching of the low frequencies to contexts longer than the original.
#pragma once

#include <vector>

#include "config/node.h"
#include "ops/tensor.h"

namespace tethys {

struct RotaryConfig : ConfigNode {
  int64_t head_dim = 2;
  double theta = 500000;
  double factor = 1;  // by how much the lowest frequencies are slowed; 1: not at all
  double low = 1;
  double high = 4;
  int64_t original_length = 8192;

  std::string_view type_name() const override { return "Rotary"; }
  void visit(NodeVisitor& visitor) override;
};

// Radians per position of each of the head_dim / 2 turning pairs, in double.
std::vector<double> inverse_frequencies(const RotaryConfig& config);

// cos and sin of every position's angles: [B, S, head_dim / 2].
struct Rotations {
  Tensor cos_BSE, sin_BSE;
};
Rotations rotations(const RotaryConfig& config, const Tensor& positions_BS, DType dtype);

// Turns every head; computed in the rotations' dtype and returned in x's.
Tensor rotate(const Tensor& x_BSHD, const Rotations& rotations);

}  // namespace tethys
