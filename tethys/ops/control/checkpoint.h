// checkpoint: a stretch of the program as one op, run once. Outside of a scan it marks what a remat policy computes
// again in the backward (the block of a model, usually).
#pragma once

#include <functional>

#include "ir/graph.h"

namespace tethys {

using CheckpointBody = std::function<std::vector<Value>(Graph& region, const std::vector<Value>& in)>;

std::vector<Value> checkpoint(Graph& graph, const std::vector<Value>& operands, const CheckpointBody& body);
std::vector<Value> checkpoint(Graph& graph, const std::vector<Value>& operands, std::shared_ptr<Graph> region);

}  // namespace tethys
