// Plan: how a model is made parallel, apart from what it is: a table from names to placements over the tensor-parallel
// axis and over those of experts. The other axes need no rows: rows of a batch are cut along the data-parallel axes,
// the tokens of a row along cp, and parameters are stored as nn/parameter_store.h says.
//
//   Plan plan = {{{"**.wq.weight", shard(0)}}, {{"layers.*.attention", replicate(), shard(1)}}};
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"

namespace tethys {

struct ParameterRow {
  std::string glob;  // over parameter names; the first match wins, and one without a match is whole
  AxisPlacement placement;
  // Where the dimension does not divide, what computes with it takes it longer; otherwise that is an error.
  bool padded = false;
  // Over the axes that experts are cut over (values/mesh.h), in the place of `placement`.
  std::optional<AxisPlacement> over_experts = std::nullopt;
};

struct ModuleRow {
  std::string glob;  // over module names
  std::optional<AxisPlacement> input, output;
};

// What a model's plan depends on besides the model.
struct PlanOptions {
  // Between attention and feed-forward, activations are cut along the tokens of a row (Korthikanti et al., 2022).
  bool sequence_parallel = false;
  // There are fewer key and value heads than tensor-parallel ranks: every rank has all of them.
  bool whole_kv_heads = false;
  // Experts are cut over all of the tensor-parallel axis.
  bool experts_over_tensor = false;
};

struct Plan {
  std::vector<ParameterRow> parameters;
  std::vector<ModuleRow> modules;
};

// The row of a parameter; one that is whole if there is none.
ParameterRow planned(const Plan& plan, const std::string& parameter);

// Where rows [B, S, …] of a batch lie: cut over the data-parallel axes along dimension `dim` and over cp along the
// next, whole over all others.
Placement batch_placement(const Mesh& mesh, int64_t dim = 0);

// Gives modules the constraints of the plan's rows, where the mesh has a tensor-parallel axis. UserError if a row
// matches no module.
void constrain_modules(Module& model, const Plan& plan, const Mesh& mesh);

}  // namespace tethys
