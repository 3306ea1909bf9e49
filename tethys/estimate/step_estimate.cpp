#include "estimate/step_estimate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/glob.h"

namespace tethys {
namespace {

// The mesh with the axis that lies over the slices in two: between them, and within each.
Mesh cut_at_slices(const Mesh& mesh, int64_t slices) {
  std::vector<MeshAxis> axes;
  for (const MeshAxis& axis : mesh.axes()) {
    const int64_t outer = std::gcd(axis.size, slices);
    slices /= outer;
    if (outer > 1 && outer < axis.size) axes.push_back({axis.name + " between slices", outer});
    axes.push_back({axis.name, outer < axis.size ? axis.size / outer : outer});
  }
  return Mesh(axes);
}

// With groups of devices as the mesh numbers them: the program of each slice numbers its own from 0.
hlo::Collective of_all_slices(hlo::Collective collective, const Slice& slice) {
  const int64_t of_slice = slice.devices() / slice.slices;
  if (collective.between_slices) {
    if (collective.kind == "all-gather") collective.bytes *= slice.slices;  // it is the part that is sent
    collective.groups.resize(of_slice);
    for (int64_t device = 0; device < of_slice; ++device) {
      for (int64_t s = 0; s < slice.slices; ++s) collective.groups[device].push_back(device + s * of_slice);
    }
    return collective;
  }
  const std::vector<std::vector<int64_t>> groups = collective.groups;
  for (int64_t s = 1; s < slice.slices; ++s) {
    for (std::vector<int64_t> group : groups) {
      for (int64_t& device : group) device += s * of_slice;
      collective.groups.push_back(std::move(group));
    }
  }
  return collective;
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
  e.between_slices = collective.between_slices;
  e.seconds = e.bytes / (e.between_slices ? kind.dcn_receive : kind.ici_receive);
  e.is_async = collective.async;
  e.product_seconds = collective.window.matmul_cycles / kind.clock;
  e.is_covered = e.is_async && e.product_seconds >= e.seconds;
  e.reduces_gradients = collective.reduces() && is_of_data(e.axes);
  return e;
}

// Runs the schedule of each computation once, with links that serve one collective after the other, in the order of
// their starts, and sets how long the program waits at each one's end.
void wait_for_links(const std::vector<hlo::Collective>& found, double clock,
                    std::vector<CollectiveEstimate>& estimates) {
  struct Event {
    size_t computation, instruction, collective;
    bool ends;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < found.size(); ++i) {
    events.push_back({found[i].computation, found[i].start, i, false});
    events.push_back({found[i].computation, found[i].end, i, true});
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::pair(a.computation, a.instruction) < std::pair(b.computation, b.instruction);
  });
  std::vector<double> done(found.size());
  double waited = 0, free_within = 0, free_between = 0;  // until when the links and the network are taken
  for (size_t n = 0; n < events.size(); ++n) {
    const auto [computation, instruction, i, ends] = events[n];
    if (n == 0 || events[n - 1].computation != computation) waited = free_within = free_between = 0;
    const double now = (ends ? found[i].end_cycles : found[i].start_cycles) / clock + waited;
    if (!ends) {
      double& free = found[i].between_slices ? free_between : free_within;
      done[i] = free = std::max(now, free) + estimates[i].seconds;
    } else {
      estimates[i].exposed = std::max(done[i] - now, 0.0);
      waited += estimates[i].exposed;
    }
  }
}

}  // namespace

double StepEstimate::covered_share() const {
  double gathered = 0, covered = 0;
  for (const CollectiveEstimate& c : collectives) {
    if (!c.gathers_parameters()) continue;
    gathered += c.runs * c.bytes;
    if (c.is_covered) covered += c.runs * c.bytes;
  }
  return gathered == 0 ? 1 : covered / gathered;
}

double StepEstimate::waited_share() const {
  double taken = 0, waited = 0;
  for (const CollectiveEstimate& c : collectives) {
    if (!c.gathers_parameters()) continue;
    taken += c.runs * c.seconds;
    waited += c.runs * c.exposed;
  }
  return taken == 0 ? 0 : waited / taken;
}

StepEstimate estimate_step(const hlo::Module& module, const Mesh& whole, const Slice& slice) {
  const hlo::Costs costs(module);
  const Mesh mesh = cut_at_slices(whole, slice.slices);
  StepEstimate estimate;
  estimate.compute_seconds = costs.total().cycles / slice.kind->clock;
  estimate.product_seconds = costs.total().matmul_cycles / slice.kind->clock;
  estimate.flops = costs.total().flops;
  const std::vector<hlo::Collective> found = hlo::collectives_of(costs);
  for (const hlo::Collective& one : found) {
    const hlo::Collective collective = of_all_slices(one, slice);
    const CollectiveEstimate& e = estimate.collectives.emplace_back(estimate_of(collective, mesh, slice));
    if (!e.reduces_gradients) continue;
    const auto n = static_cast<double>(collective.size());
    estimate.reduced_bytes += e.runs * e.bytes;
    estimate.all_reduced_bytes += e.runs * 2 * (n - 1) / n * static_cast<double>(collective.bytes);
  }
  wait_for_links(found, slice.kind->clock, estimate.collectives);
  for (const CollectiveEstimate& e : estimate.collectives) estimate.exposed_seconds += e.runs * e.exposed;
  estimate.by_op = costs.by_op();
  estimate.by_scope = costs.by_scope();
  estimate.without_estimate = costs.without_estimate();
  estimate.unread_loops = costs.unread_loops();
  return estimate;
}

}  // namespace tethys
