#include "hlo/costs.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <tuple>

#include "base/glob.h"
#include "hlo/collectives.h"
#include "hlo/trip_count.h"

namespace tethys::hlo {
namespace {

bool is_one_of(std::string_view opcode, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), opcode) != names.end();
}

void add_to(std::vector<CostLine>& lines, const std::string& what, double runs, double bytes, const Cost& cost) {
  auto line = std::find_if(lines.begin(), lines.end(), [&](const CostLine& l) { return l.what == what; });
  if (line == lines.end()) line = lines.insert(lines.end(), CostLine{what, 0, 0, {}});
  line->runs += runs;
  line->bytes += bytes;
  line->cost += cost;
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  cycles += other.cycles;
  matmul_cycles += other.matmul_cycles;
  flops += other.flops;
  return *this;
}

Cost Cost::times(double factor) const { return {factor * cycles, factor * matmul_cycles, factor * flops}; }

bool is_control(const Instruction& i) { return is_one_of(i.opcode, {"while", "call", "conditional"}); }

bool is_free(const Instruction& i) {
  if (i.opcode == "custom-call") {
    return is_one_of(i.target, {"AllocateBuffer", "ConcatBitcast", "AssumeGatherIndicesInBound"});
  }
  return std::string_view(i.opcode).ends_with("-done") ||
         is_one_of(i.opcode, {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "partition-id",
                              "replica-id", "after-all", "add-dependency", "optimization-barrier", "async-update"});
}

std::string Costs::kind_of(const Instruction& i) const {
  if (i.opcode == "custom-call") return "custom call " + i.target;
  const bool product = flops_inside(i) > 0;
  if (i.opcode == "fusion") return product ? "fusion with a matrix product" : "fusion";
  if (i.opcode == "copy-start") return "copy beside the program";
  if (i.opcode == "async-start" && !i.calls.empty()) {
    const std::string& thread = module_.computations[i.calls[0]].thread;
    return thread.empty() ? "piece of a copy beside the program" : "computation on the " + thread;
  }
  return product ? "matrix product" : i.opcode;
}

Costs::Costs(const Module& module)
    : module_(module),
      of_computation_(module.computations.size()),
      added_up_(module.computations.size(), 0),
      runs_(module.computations.size(), 0) {
  add_up(module.entry_index);
  spread_runs(module.entry_index, 1);
}

double Costs::flops_inside(const Instruction& i) const {
  double flops = i.flops;
  if (is_control(i)) return flops;
  // Fusions of fusions are a few deep.
  for (size_t called : i.calls) {
    for (const Instruction& inner : module_.computations[called].instructions) flops += flops_inside(inner);
  }
  return flops;
}

double Costs::iterations(const Instruction& loop) const {
  const auto found = iterations_.find(&loop);
  return found == iterations_.end() ? 1 : found->second;
}

Cost Costs::of(const Instruction& i) const {
  if (is_control(i)) {
    Cost cost;
    const size_t bodies = i.opcode == "while" ? 1 : i.calls.size();  // a condition is next to nothing
    for (size_t n = 0; n < bodies && n < i.calls.size(); ++n) cost += of_computation_[i.calls[n]];
    return cost.times(iterations(i));
  }
  Cost cost;
  cost.flops = flops_inside(i);
  if (i.cycles && !is_free(i)) cost.cycles = static_cast<double>(*i.cycles);
  if (cost.flops > 0) cost.matmul_cycles = cost.cycles;
  return cost;
}

void Costs::add_up(size_t index) {
  if (added_up_[index] != 0) return;
  added_up_[index] = 1;
  const Computation& computation = module_.computations[index];
  Cost total;
  for (const Instruction& i : computation.instructions) {
    if (is_control(i)) {
      for (size_t called : i.calls) add_up(called);
      if (i.opcode == "while") {
        const std::optional<int64_t> count = trip_count(module_, computation, i);
        if (!count) ++unread_loops_;
        iterations_[&i] = static_cast<double>(count.value_or(1));
      }
    }
    total += of(i);
  }
  of_computation_[index] = total;
}

void Costs::spread_runs(size_t index, double runs) {
  runs_[index] += runs;
  for (const Instruction& i : module_.computations[index].instructions) {
    if (!is_control(i)) continue;
    const size_t bodies = i.opcode == "while" ? 1 : i.calls.size();
    for (size_t n = 0; n < bodies && n < i.calls.size(); ++n) {
      spread_runs(i.calls[n], runs * (i.opcode == "while" ? iterations(i) : 1));
    }
  }
}

template <typename Chosen, typename Named>
std::vector<CostLine> Costs::lines(const Chosen& chosen, const Named& named) const {
  std::vector<CostLine> lines;
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    if (runs_[c] == 0) continue;
    for (const Instruction& i : module_.computations[c].instructions) {
      if (is_control(i) || is_free(i) || !chosen(i)) continue;
      add_to(lines, named(i), runs_[c], runs_[c] * static_cast<double>(i.shape.bytes()), of(i).times(runs_[c]));
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const CostLine& a, const CostLine& b) {
    return std::tuple(a.cost.cycles, a.cost.flops, a.bytes) > std::tuple(b.cost.cycles, b.cost.flops, b.bytes);
  });
  return lines;
}

std::vector<CostLine> Costs::by_op() const {
  return lines([](const Instruction& i) { return i.cycles.has_value(); },
               [this](const Instruction& i) { return kind_of(i); });
}

std::vector<CostLine> Costs::by_scope() const {
  return lines([](const Instruction& i) { return i.cycles.has_value(); },
               [](const Instruction& i) { return with_stars(i.scope); });
}

std::vector<CostLine> Costs::without_estimate() const {
  return lines([this](const Instruction& i) { return !i.cycles && !is_collective(module_, i); },
               [this](const Instruction& i) { return kind_of(i); });
}

}  // namespace tethys::hlo
