#include "estimate/estimate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "base/units.h"

namespace tethys {
namespace {

constexpr size_t kMostLines = 12;

// Collectives that are alike in kind, axes and dtype.
struct Group {
  std::string kind, axes, dtype;
  double places = 0, runs = 0, covered = 0, bytes = 0, seconds = 0, exposed = 0;
};

std::vector<Group> grouped(const std::vector<CollectiveEstimate>& collectives) {
  std::vector<Group> groups;
  for (const CollectiveEstimate& c : collectives) {
    const auto alike = [&](const Group& g) { return g.kind == c.kind && g.axes == c.axes && g.dtype == c.dtype; };
    auto group = std::find_if(groups.begin(), groups.end(), alike);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{c.kind, c.axes, c.dtype});
    group->places += 1;
    group->runs += c.runs;
    group->covered += c.is_covered ? c.runs : 0;
    group->bytes += c.runs * c.bytes;
    group->seconds += c.runs * c.seconds;
    group->exposed += c.runs * c.exposed;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  return groups;
}

std::string why_exposed(const CollectiveEstimate& c) {
  if (!c.is_async) return "everything waits for it";
  return fmt::format("{:.3g} ms of matrix products between start and end, {:.3g} ms of links", 1e3 * c.product_seconds,
                     1e3 * c.seconds);
}

std::string gathers_text(const StepEstimate& e) {
  const bool gathers =
      std::any_of(e.collectives.begin(), e.collectives.end(), [](const auto& c) { return c.gathers_parameters(); });
  if (!gathers) return "";
  std::string text = fmt::format(
      "  of parameters, gathered bytes beside matrix products that take as long: {:.1f} %; of the links' time "
      "for all of them\n  the program waits for {:.1f} %; those that are not covered:\n",
      100 * e.covered_share(), 100 * e.waited_share());
  std::vector<const CollectiveEstimate*> exposed;
  for (const CollectiveEstimate& c : e.collectives) {
    if (c.gathers_parameters() && !c.is_covered) exposed.push_back(&c);
  }
  std::stable_sort(exposed.begin(), exposed.end(),
                   [](const auto* a, const auto* b) { return a->runs * a->bytes > b->runs * b->bytes; });
  for (size_t i = 0; i < exposed.size() && i < kMostLines; ++i) {
    const CollectiveEstimate& c = *exposed[i];
    text += fmt::format("    {:>5.0f} × {:>9.2f} MiB  {:<30} {}\n", c.runs, c.bytes / kMiB, c.scope, why_exposed(c));
  }
  if (exposed.size() > kMostLines) text += fmt::format("    and {} more\n", exposed.size() - kMostLines);
  return text;
}

std::string collectives_text(const StepEstimate& e) {
  if (e.collectives.empty()) return "collectives: none\n";
  std::string text =
      "collectives of a step: what a device receives; covered: beside matrix products that take as long\n";
  text += fmt::format("  {:<24} {:<20} {:<6} {:>7} {:>7} {:>8} {:>12} {:>10} {:>12}\n", "mesh axes", "kind", "dtype",
                      "places", "runs", "covered", "MiB", "ms", "ms exposed");
  for (const Group& g : grouped(e.collectives)) {
    text += fmt::format("  {:<24} {:<20} {:<6} {:>7.0f} {:>7.0f} {:>8.0f} {:>12.2f} {:>10.3f} {:>12.3f}\n", g.axes,
                        g.kind, g.dtype, g.places, g.runs, g.covered, g.bytes / kMiB, 1e3 * g.seconds, 1e3 * g.exposed);
  }
  text += gathers_text(e);
  if (e.all_reduced_bytes > 0) {
    text += fmt::format("  to reduce gradients: {:.2f} MiB, {:.3f} of what full all-reduces of the same dtype move\n",
                        e.reduced_bytes / kMiB, e.reduced_bytes / e.all_reduced_bytes);
  }
  return text;
}

std::string lines_text(const std::vector<hlo::CostLine>& lines, double total) {
  std::string text;
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) {
    const hlo::CostLine& l = lines[i];
    text += fmt::format("  {:<44} {:>9.0f} × {:>14.4g} cycles {:>6.1f} %\n", l.what.empty() ? "(not said)" : l.what,
                        l.runs, l.cost.cycles, total > 0 ? 100 * l.cost.cycles / total : 0);
  }
  if (lines.size() > kMostLines) text += fmt::format("  and {} more\n", lines.size() - kMostLines);
  return text;
}

// Results of a MiB and more, with the time that writing them and reading as much would take.
std::string without_text(const std::vector<hlo::CostLine>& lines, double hbm_rate) {
  if (lines.empty()) return "";
  std::string text = "of which the compiler estimates nothing, and which count as nothing; ms at the memory's rate\n";
  size_t small = 0;
  for (const hlo::CostLine& l : lines) {
    if (l.bytes < kMiB && l.cost.flops == 0) {
      ++small;
      continue;
    }
    text += fmt::format("  {:<44} {:>9.0f} × {:>14.2f} MiB in all {:>9.3f} ms", l.what, l.runs, l.bytes / kMiB,
                        1e3 * 2 * l.bytes / hbm_rate);
    text += l.cost.flops > 0 ? fmt::format(" {:.4g} FLOP\n", l.cost.flops) : "\n";
  }
  if (small > 0) text += fmt::format("  and {} of less than a MiB\n", counted(static_cast<int64_t>(small), "kind"));
  return text;
}

std::string time_text(const StepReport& r) {
  const StepEstimate& e = *r.estimate;
  std::string text =
      "estimated time of a step, not measured: the compiler's cycles one after the other, and how long\n";
  text += "the program waits for collectives, which the links serve one after the other at their full rate\n";
  text += fmt::format(
      "  {:<22}{:>10.1f} ms compute ({:.1f} in instructions with matrix products) + {:.1f} ms exposed "
      "collectives\n",
      "estimated step", 1e3 * e.compute_seconds, 1e3 * e.product_seconds, 1e3 * e.exposed_seconds);
  text += fmt::format("  {:<22}{:>10.1f}\n", "estimated tokens/s/chip", r.tokens_per_second_and_chip());
  text += fmt::format("  {:<22}{:>9.1f} % by our formula's FLOPs, {:.1f} % by all that the program computes\n",
                      "estimated MFU", 100 * r.formula_mfu(), 100 * r.xla_mfu());
  if (e.unread_loops > 0) {
    text += fmt::format("  {} run as often as the data says, as those over experts' rows, and count as one iteration\n",
                        counted(e.unread_loops, "loop"));
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<hlo::CostLine>& lines) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const hlo::CostLine& l : lines) {
    list.push_back(
        {{"what", l.what}, {"runs", l.runs}, {"bytes", l.bytes}, {"cycles", l.cost.cycles}, {"flops", l.cost.flops}});
  }
  return list;
}

nlohmann::ordered_json json_of(const CollectiveEstimate& c) {
  return {{"kind", c.kind},
          {"mesh_axes", c.axes},
          {"for", c.scope},
          {"dtype", c.dtype},
          {"runs", c.runs},
          {"bytes_received", c.bytes},
          {"async", c.is_async},
          {"between_slices", c.between_slices},
          {"covered", c.is_covered},
          {"link_seconds", c.seconds},
          {"matmul_seconds_between", c.product_seconds},
          {"exposed_seconds", c.exposed}};
}

}  // namespace

std::string estimate_text(const StepReport& r) {
  const StepEstimate& e = *r.estimate;
  double cycles = 0;
  for (const hlo::CostLine& line : e.by_op) cycles += line.cost.cycles;
  return collectives_text(e) + "estimated cycles by op\n" + lines_text(e.by_op, cycles) +
         "estimated cycles by module, forward and backward\n" + lines_text(e.by_scope, cycles) +
         without_text(e.without_estimate, r.hbm_rate) + time_text(r);
}

nlohmann::ordered_json estimate_json(const StepReport& r) {
  const StepEstimate& e = *r.estimate;
  nlohmann::ordered_json collectives = nlohmann::ordered_json::array();
  for (const CollectiveEstimate& c : e.collectives) collectives.push_back(json_of(c));
  const double ratio = e.all_reduced_bytes > 0 ? e.reduced_bytes / e.all_reduced_bytes : 0;
  return {{"step_seconds", e.seconds()},
          {"compute_seconds", e.compute_seconds},
          {"matmul_seconds", e.product_seconds},
          {"exposed_collective_seconds", e.exposed_seconds},
          {"tokens_per_second_per_chip", r.tokens_per_second_and_chip()},
          {"mfu_formula", r.formula_mfu()},
          {"mfu_xla", r.xla_mfu()},
          {"flops_matrix_products", e.flops},
          {"unread_loops", e.unread_loops},
          {"gathered_bytes_covered_share", e.covered_share()},
          {"gather_seconds_waited_share", e.waited_share()},
          {"gradient_bytes_reduced", e.reduced_bytes},
          {"gradient_bytes_of_all_reduces", e.all_reduced_bytes},
          {"gradient_bytes_ratio", ratio},
          {"collectives", collectives},
          {"cycles_by_op", json_of(e.by_op)},
          {"cycles_by_module", json_of(e.by_scope)},
          {"without_estimate", json_of(e.without_estimate)}};
}

}  // namespace tethys
