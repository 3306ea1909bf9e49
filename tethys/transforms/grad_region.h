// The gradients of ops that hold a region: scan and checkpoint.
//
// The region is differentiated once, in a joint graph of its forward and backward. What of the forward the backward
// reads is split by the remat policy: residuals, which the forward op now returns too, and values computed again.
#pragma once

#include "transforms/cotangents.h"

namespace tethys {

// The cotangents of the node's operands. Extends the node by its residuals and appends its backward to `graph`.
Cotangents region_cotangents(Graph& graph, NodeId node, const VjpContext& context, const RematPolicy& policy);

}  // namespace tethys
