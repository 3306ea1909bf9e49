// LossKernelConfig: which kernel computes the final projection and its loss, as a node of a model's config tree. An
// override puts another in its place; what is built from it is a function, which the module of the loss keeps.
//
//   const LossKernel loss = config.build();
//   const Tensor loss_sum = loss(x_BSD, w_VD, labels_BS, 128256);
#pragma once

#include <functional>

#include "config/node.h"
#include "kernels/linear_cross_entropy/linear_cross_entropy.h"

namespace tethys {

using LossKernel =
    std::function<Tensor(const Tensor& x_BSD, const Tensor& w_VD, const Tensor& labels_BS, int64_t vocabulary)>;

struct LossKernelConfig : ConfigNode {
  std::string_view type_name() const override { return "ReferenceLoss"; }
  void visit(NodeVisitor&) override {}
  virtual LossKernel build() const {
    return [](const Tensor& x_BSD, const Tensor& w_VD, const Tensor& labels_BS, int64_t vocabulary) {
      return linear_cross_entropy(x_BSD, w_VD, labels_BS, vocabulary);
    };
  }
};

}  // namespace tethys
