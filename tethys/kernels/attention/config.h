// AttentionKernelConfig: which kernel computes attention, as a node of a model's config tree. An override puts another
// in its place; what is built from it is a function, which the module that attends keeps.
//
//   const AttentionKernel attend = config.build();
//   const Attention a = attend(operands, 0.125);
#pragma once

#include <functional>

#include "config/node.h"
#include "kernels/attention/attention.h"

namespace tethys {

using AttentionKernel = std::function<Attention(const AttentionOperands& operands, double scale)>;

struct AttentionKernelConfig : ConfigNode {
  std::string_view type_name() const override { return "ReferenceAttention"; }
  void visit(NodeVisitor&) override {}
  virtual AttentionKernel build() const {
    return [](const AttentionOperands& operands, double scale) { return attention(operands, {scale}); };
  }
};

}  // namespace tethys
