#include "estimate/step_estimate.h"

#include <algorithm>

#include "base/glob.h"

namespace tethys {
namespace {

// Whether a group has devices of several slices, which have equal runs of the devices' numbers.
bool is_between_slices(const hlo::Collective& collective, const Slice& slice) {
  const int64_t of_slice = slice.devices() / slice.slices;
  return std::any_of(collective.groups.begin(), collective.groups.end(), [&](const std::vector<int64_t>& group) {
    return std::any_of(group.begin(), group.end(),
                       [&](int64_t device) { return device / of_slice != group[0] / of_slice; });
  });
}

// Gradients are summed over the axes that data and tokens are cut over; those of tensor parallelism sum activations.
bool is_of_data(const std::string& axes) {
  return axes.find("dp_") != std::string::npos || axes.find("cp") != std::string::npos || axes == "other";
}

CollectiveEstimate estimate_of(const hlo::Collective& collective, const Mesh& mesh, const Slice& slice) {
  const TpuKind& kind = *slice.kind;
  CollectiveEstimate e;
  e.kind = collective.kind;
  e.axes = hlo::axes_of(collective, mesh);
  e.scope = with_stars(collective.scope);
  e.dtype = collective.dtype;
  e.runs = collective.runs;
  e.bytes = collective.received();
  e.between_slices = is_between_slices(collective, slice);
  e.seconds = e.bytes / (e.between_slices ? kind.dcn_receive : kind.ici_receive);
  e.is_async = collective.async;
  e.product_seconds = collective.window.matmul_cycles / kind.clock;
  e.exposed = std::max(e.seconds - collective.window.cycles / kind.clock, 0.0);
  e.is_covered = e.is_async && e.product_seconds >= e.seconds;
  e.reduces_gradients = collective.reduces() && is_of_data(e.axes);
  return e;
}

}  // namespace

double StepEstimate::covered_share() const {
  double gathered = 0, covered = 0;
  for (const CollectiveEstimate& c : collectives) {
    if (!c.is_gather()) continue;
    gathered += c.runs * c.bytes;
    if (c.is_covered) covered += c.runs * c.bytes;
  }
  return gathered == 0 ? 1 : covered / gathered;
}

StepEstimate estimate_step(const hlo::Module& module, const Mesh& mesh, const Slice& slice) {
  const hlo::Costs costs(module);
  StepEstimate estimate;
  estimate.compute_seconds = costs.total().cycles / slice.kind->clock;
  estimate.product_seconds = costs.total().matmul_cycles / slice.kind->clock;
  estimate.flops = costs.total().flops;
  for (const hlo::Collective& collective : hlo::collectives_of(costs)) {
    const CollectiveEstimate& e = estimate.collectives.emplace_back(estimate_of(collective, mesh, slice));
    estimate.exposed_seconds += e.runs * e.exposed;
    if (!e.reduces_gradients) continue;
    const auto n = static_cast<double>(collective.size());
    estimate.reduced_bytes += e.runs * e.bytes;
    estimate.all_reduced_bytes += e.runs * 2 * (n - 1) / n * static_cast<double>(collective.bytes);
  }
  estimate.by_op = costs.by_op();
  estimate.by_scope = costs.by_scope();
  estimate.without_estimate = costs.without_estimate();
  estimate.unread_loops = costs.unread_loops();
  return estimate;
}

}  // namespace tethys
