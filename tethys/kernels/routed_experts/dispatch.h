// Dispatch: how the rows of tokens get to the experts that were chosen for them, and back. Experts may lie on other
// devices; then rows go there and come back by all_to_all. Shapes are those of the worst case, all tokens to one
// expert.
//
//   Dispatch dispatch = dispatch_here(ids_BST, experts);
//   Tensor x_RD = dispatch.to_experts(take(x_ND, dispatch.token_S));
//   Tensor y_AD = dispatch.to_tokens(grouped_matmul(x_RD, w_EFD, dispatch.counts_E));
//
//   N tokens   T experts of a token   A = N·T assignments n·T + t   E experts on this device
//   S slots, in which rows wait to be sent   R rows at the experts, sorted by expert
#pragma once

#include <optional>

#include "ops/tensor.h"

namespace tethys {

struct Dispatch {
  // The devices of a group send each other slots, as many as each receives.
  struct Exchange {
    const Mesh* mesh = nullptr;
    Dims axes;
    Tensor order_R;     // s32: which of the received slots each row is
    Tensor position_R;  // s32: the inverse
  };

  Tensor assignment_S;          // s32: what waits in each slot; anything in slots that are left over
  Tensor token_S;               // s32: its token
  Tensor slot_A;                // s32: where each assignment waits
  Tensor counts_E;              // s32: the rows of each expert
  std::optional<Tensor> own_A;  // bool: assignments to experts of this group; absent: all are, or others give zeros
  std::optional<Exchange> exchange;

  // [S,D] → [R,D]; rows behind the sum of the counts belong to no expert.
  Tensor to_experts(const Tensor& rows_SD) const;
  // [R,D] → [A,D]; what belongs to no expert must be zeros.
  Tensor to_tokens(const Tensor& rows_RD) const;
};

// All stay on this device. Ids are of its experts, from 0; those behind the last expert get zeros.
Dispatch dispatch_here(const Tensor& ids_BST, int64_t experts);

// Where the experts are: cut evenly over mesh axes, major first.
struct ExpertOwners {
  const Mesh* mesh = nullptr;
  Dims axes;
  // Those of the axes along which tokens are cut too, and rows are exchanged. Along the others all devices have the
  // same tokens, and each takes what belongs to its experts.
  Dims exchanged;
};

// Ids count all experts.
Dispatch dispatch_to(const ExpertOwners& owners, const Tensor& ids_BST, int64_t experts);

}  // namespace tethys
