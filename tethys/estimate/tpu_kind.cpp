#include "estimate/tpu_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/units.h"

namespace tethys {
namespace {

constexpr double kHbm = static_cast<double>(kGiB);
constexpr double kTera = 1e12, kGiga = 1e9;
// Data sheets give the network between slices in bits, of a chip.
constexpr double kGigabit = 1e9 / 8;

// Chips, peaks, memory and links: cloud.google.com/tpu/docs, the page of each version; links are given there both ways,
// of which half is received. The clock is the peak over what the matrix units of a device do in a cycle. Usable HBM is
// what libtpu 0.0.52 says is available. A chip of v4 and of tpu7x is two devices.
const TpuKind kKinds[] = {
    // name, rank, chips, devices, usable HBM, peak, clock, HBM, links, network
    {"v4", 3, 4096, 2, 15.25 * kHbm, 275 * kTera / 2, 1.05 * kGiga, 1228 * kGiga / 2, 300 * kGiga / 2,
     50 * kGigabit / 2},
    {"v5e", 2, 256, 1, 15.75 * kHbm, 197 * kTera, 1.5 * kGiga, 820 * kGiga, 200 * kGiga, 25 * kGigabit},
    {"v5p", 3, 8960, 1, 95.73 * kHbm, 459 * kTera, 1.75 * kGiga, 2765 * kGiga, 600 * kGiga, 50 * kGigabit},
    {"v6e", 2, 256, 1, 31.24 * kHbm, 918 * kTera, 1.75 * kGiga, 1640 * kGiga, 400 * kGiga, 100 * kGigabit},
    {"tpu7x", 3, 9216, 2, 94.74 * kHbm, 2307 * kTera / 2, 2.2 * kGiga, 7380 * kGiga / 2, 600 * kGiga / 2,
     100 * kGigabit / 2},
};

// A name that programs elsewhere have for a kind.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"v7x", "tpu7x"}, {"tpu7", "tpu7x"}, {"v5litepod", "v5e"}, {"v5", "v5p"}, {"v6", "v6e"}};

constexpr std::string_view kGrids[] = {"AxB, sides 1, 2, 4, 8 or 16", "AxBxC, sides 1, 2 or a multiple of 4"};

std::string known_topologies() {
  std::string text;
  for (const TpuKind& kind : kKinds) {
    text += fmt::format("{}{}:{} (at most {} chips)", text.empty() ? "" : "; ", kind.name, kGrids[kind.grid_rank - 2],
                        with_commas(kind.most_chips));
  }
  return text;
}

[[noreturn]] void unknown(const std::string& topology, const std::string& why) {
  user_error("'{}' is no topology: {}; known are {}", topology, why, known_topologies());
}

const TpuKind& kind_named(const std::string& topology, const std::string& name) {
  std::vector<std::string> names;
  for (const TpuKind& kind : kKinds) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  std::string meant = nearest_name(name, names);
  for (const auto& [other, ours] : kOtherNames) {
    if (other == name) meant = ours;
  }
  unknown(topology, fmt::format("there is no kind '{}' of TPU; the nearest is {}", name, meant));
}

bool is_side(int64_t side, int64_t rank) {
  if (side == 1 || side == 2) return true;
  return rank == 2 ? side == 4 || side == 8 || side == 16 : side > 0 && side % 4 == 0;
}

std::vector<int64_t> sides_of(const std::string& topology, std::string_view text) {
  std::vector<int64_t> sides;
  while (true) {
    const size_t end = std::min(text.find('x'), text.size());
    const auto side = parse_number<int64_t>(text.substr(0, end));
    if (!side) unknown(topology, "its chips are no numbers with an x between them");
    sides.push_back(*side);
    if (end == text.size()) return sides;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

const std::vector<TpuKind>& tpu_kinds() {
  static const std::vector<TpuKind> kinds(std::begin(kKinds), std::end(kKinds));
  return kinds;
}

Slice slice_named(const std::string& topology, int64_t slices) {
  const size_t colon = topology.find(':');
  if (colon == std::string::npos) unknown(topology, "it has no colon between the kind of TPU and its chips");
  const TpuKind& kind = kind_named(topology, topology.substr(0, colon));
  const std::vector<int64_t> sides = sides_of(topology, std::string_view(topology).substr(colon + 1));
  if (static_cast<int64_t>(sides.size()) != kind.grid_rank) {
    unknown(topology,
            fmt::format("chips of {} form a grid of {} sides, not {}", kind.name, kind.grid_rank, sides.size()));
  }
  int64_t chips = 1;
  for (int64_t side : sides) {
    if (!is_side(side, kind.grid_rank)) unknown(topology, fmt::format("no slice has a side of {}", side));
    chips = std::min(chips, kind.most_chips + 1) * std::min(side, kind.most_chips + 1);
  }
  if (chips > kind.most_chips) unknown(topology, fmt::format("a slice of {} has fewer chips", kind.name));
  return {topology, &kind, chips, slices};
}

std::string to_string(const Slice& slice) {
  return slice.slices == 1 ? slice.topology : fmt::format("{} × {}", slice.slices, slice.topology);
}

}  // namespace tethys
