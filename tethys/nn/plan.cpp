#include "nn/plan.h"

#include "base/glob.h"

namespace tethys {

ParameterRow planned(const Plan& plan, const std::string& parameter) {
  for (const ParameterRow& row : plan.parameters) {
    if (glob_match(row.glob, parameter)) return row;
  }
  return {parameter, replicate()};
}

Placement batch_placement(const Mesh& mesh, int64_t dim) {
  Placement placement = replicated(mesh);
  for (const char* axis : {"dp_replicate", "dp_shard"}) {
    if (const std::optional<int64_t> found = mesh.find(axis)) placement[*found] = shard(dim);
  }
  if (const std::optional<int64_t> cp = mesh.find("cp")) placement[*cp] = shard(dim + 1);
  return placement;
}

void constrain_modules(Module& model, const Plan& plan, const Mesh& mesh) {
  const std::optional<int64_t> tp = mesh.find("tp");
  if (!tp) return;
  auto on_mesh = [&](const std::optional<AxisPlacement>& over_tp) -> std::optional<Placement> {
    if (!over_tp) return std::nullopt;
    Placement placement = batch_placement(mesh);
    placement[*tp] = *over_tp;
    return placement;
  };
  for (const ModuleRow& row : plan.modules) {
    bool matched = false;
    model.apply([&](Module& module) {
      if (!glob_match(row.glob, module.name())) return;
      matched = true;
      module.set_constraints({on_mesh(row.input), on_mesh(row.output)});
    });
    if (!matched) user_error("the plan's row {} matches no module", row.glob);
  }
}

}  // namespace tethys
