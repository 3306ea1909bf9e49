// Experts: feed-forwards of which each token goes through a few, chosen at run time. No token is dropped, however the
// choice falls.
//
//   B batch   S sequence   D width   T experts of a token   E experts   F width within an expert
//
//   Tensor y_BSD = routed_experts({x_BSD, ids_BST, weights_BST, w1_EFD, w3_EFD, w2_EDF});
//
// y[n] = Σ_t weights[n,t] · w2_e(silu(w1_e x[n]) · w3_e x[n]) with e = ids[n,t]. Weights are applied to what the
// experts give, in at least float32; the sum over t is in the order of t. No expert occurs twice in a token's ids.
#pragma once

#include "ops/kernel/kernel.h"
#include "ops/tensor.h"

namespace tethys {

extern const KernelRecord routed_experts_kernel;
// Operands: those of routed_experts and the cotangent of its result. Results: cotangents of x, weights, w1, w3 and w2.
extern const KernelRecord routed_experts_backward_kernel;

// How tokens that lie cut over the devices that experts are cut over get to them.
enum class Dispatcher : uint8_t {
  Local,     // all tokens of the group are gathered, each device computes for its experts, and results are summed
  AllToAll,  // each token's row is sent to its experts and back, by all_to_all
};
std::string_view name_of(Dispatcher dispatcher);
// The inverse. InternalError for another name.
Dispatcher dispatcher_named(std::string_view name);

struct RoutedExpertsAttributes {
  Dispatcher dispatcher = Dispatcher::AllToAll;
  // In which the gradients of w1, w3 and w2 are wanted.
  DType weight_gradient = DType::F32;
  bool operator==(const RoutedExpertsAttributes&) const = default;
};
std::string describe(const RoutedExpertsAttributes& attributes);

struct RoutedExpertsOperands {
  Tensor x_BSD;
  Tensor ids_BST;      // s32
  Tensor weights_BST;  // floating
  Tensor w1_EFD, w3_EFD, w2_EDF;
};

Tensor routed_experts(const RoutedExpertsOperands& operands, Dispatcher dispatcher = Dispatcher::AllToAll);

}  // namespace tethys
