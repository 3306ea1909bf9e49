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
  for (const char* name : {"dp_replicate", "dp_shard"}) {
    for (const int64_t axis : mesh.find_all(name)) placement[axis] = shard(dim);
  }
  for (const int64_t axis : mesh.find_all("cp")) placement[axis] = shard(dim + 1);
  return placement;
}

void constrain_modules(Module& model, const Plan& plan, const Mesh& mesh) {
  const std::vector<int64_t> tp = mesh.find_all("tp");
  if (tp.empty()) return;
  auto on_mesh = [&](const std::optional<AxisPlacement>& over_tp) -> std::optional<Placement> {
    if (!over_tp) return std::nullopt;
    Placement placement = batch_placement(mesh);
    for (const int64_t axis : tp) placement[axis] = *over_tp;
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
