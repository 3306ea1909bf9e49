// Plan: how a model is made parallel, apart from what it is: a table from names to placements over the tensor-parallel
// axis. Data-parallel axes need no rows: a batch is cut along its first dimension, and parameters are stored as
// nn/parameter_store.h says.
//
//   Plan plan = {{{"**.wq.weight", shard(0)}}, {{"layers.*.attention", replicate(), replicate()}}};
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"

namespace tethys {

struct ParameterRow {
  std::string glob;  // over parameter names; the first match wins, and one without a match is whole
  AxisPlacement placement;
};

struct ModuleRow {
  std::string glob;  // over module names
  std::optional<AxisPlacement> input, output;
};

struct Plan {
  std::vector<ParameterRow> parameters;
  std::vector<ModuleRow> modules;
};

// The tensor-parallel placement of a parameter.
AxisPlacement planned_placement(const Plan& plan, const std::string& parameter);

// Where rows [B, …] of a batch lie: cut over the data-parallel axes along dimension `dim`, whole over all others.
Placement batch_placement(const Mesh& mesh, int64_t dim = 0);

// Gives modules the constraints of the plan's rows, where the mesh has a tensor-parallel axis. UserError if a row
// matches no module.
void constrain_modules(Module& model, const Plan& plan, const Mesh& mesh);

}  // namespace tethys
