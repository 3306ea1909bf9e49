// What is never kept for a later part of a program, be it a backward, another half or another stage: it is as large as
// what it is made from and cheap to make again, or a gathered parameter that is gathered again.
#pragma once

#include "ir/graph.h"
#include "ops/control/redistribute.h"
#include "ops/registry.h"

namespace tethys {

inline bool is_made_again(const Node& node) {
  if (node.op == &redistribute_op) return !redistribute_attributes(node.attributes).keep;
  return node.op->recompute;
}

}  // namespace tethys
