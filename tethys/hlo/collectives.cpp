#include "hlo/collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tethys::hlo {
namespace {

constexpr std::string_view kKinds[] = {"all-gather",         "all-reduce",        "reduce-scatter",      "all-to-all",
                                       "collective-permute", "ragged-all-to-all", "collective-broadcast"};
// What programs of several slices do together.
constexpr std::pair<std::string_view, std::string_view> kTransfers[] = {{"ALL_REDUCE", "all-reduce"},
                                                                        {"ALL_GATHER", "all-gather"},
                                                                        {"REDUCE_SCATTER", "reduce-scatter"},
                                                                        {"ALL_TO_ALL", "all-to-all"}};
constexpr std::string_view kStart = "-start", kDone = "-done";

// The kind of a collective's own opcode, which may end in -start; empty if it is of none.
std::string_view kind_named(std::string_view opcode) {
  if (opcode.ends_with(kStart)) opcode.remove_suffix(kStart.size());
  for (std::string_view kind : kKinds) {
    if (opcode == kind) return kind;
  }
  return {};
}

// A collective and the computation that it is written in.
struct Written {
  const Instruction* instruction = nullptr;
  const Computation* computation = nullptr;
};

// In an instruction or in what it calls, unless those are the program's own loops.
std::optional<Written> find_in(const Module& module, const Computation& computation, const Instruction& i) {
  if (!kind_named(i.opcode).empty()) return Written{&i, &computation};
  if (is_control(i)) return std::nullopt;
  for (size_t called : i.calls) {
    const Computation& inside = module.computations[called];
    for (const Instruction& inner : inside.instructions) {
      if (const auto found = find_in(module, inside, inner)) return found;
    }
  }
  return std::nullopt;
}

bool calls_target(const Module& module, const Instruction& i, std::string_view target) {
  if (i.opcode == "custom-call" && i.target == target) return true;
  if (is_control(i)) return false;
  return std::any_of(i.calls.begin(), i.calls.end(), [&](size_t called) {
    const auto& inside = module.computations[called].instructions;
    return std::any_of(inside.begin(), inside.end(),
                       [&](const Instruction& x) { return calls_target(module, x, target); });
  });
}

// Whether all that a computation gives of an all-reduce is a slice: it then moves no more than a reduce-scatter.
bool is_sliced(const Written& written) {
  if (written.instruction->opcode != "all-reduce") return false;
  const Computation& computation = *written.computation;
  const Instruction* result = &computation.instructions[computation.root];
  if (result->opcode == "bitcast" && !result->operands.empty()) result = &computation.instructions[result->operands[0]];
  return result->opcode == "dynamic-slice" && !result->operands.empty() &&
         &computation.instructions[result->operands[0]] == written.instruction;
}

// The whole array: a gather's result, the others' operands. A start's shape has both.
const Shape& shape_with(const Shape& shape, size_t part) {
  return part < shape.parts.size() ? shape.parts[part] : shape;
}

void fill(Collective& collective, const Written& written) {
  const Instruction& i = *written.instruction;
  collective.kind = is_sliced(written) ? "reduce-scatter" : kind_named(i.opcode);
  collective.groups = i.groups;
  Shape whole = i.opcode.ends_with(kStart) && i.shape.parts.size() >= 2 ? shape_with(i.shape, 1) : i.shape;
  if (collective.kind == "reduce-scatter") {
    collective.bytes = 0;
    for (size_t operand : i.operands) collective.bytes += written.computation->instructions[operand].shape.bytes();
  } else {
    collective.bytes = whole.bytes();
  }
  while (!whole.parts.empty()) whole = Shape(whole.parts[0]);
  collective.dtype = whole.dtype;
}

// A computation in the order of its schedule, with the collectives that are on their way.
class Scan {
 public:
  Scan(const Costs& costs, size_t computation, std::vector<Collective>& found)
      : costs_(costs),
        module_(costs.module()),
        index_(computation),
        computation_(module_.computations[computation]),
        found_(found) {
    runs_ = costs.runs(computation);
  }

  void run() {
    for (size_t i = 0; i < computation_.instructions.size(); ++i) {
      const Instruction& instruction = computation_.instructions[i];
      at_ = i;
      if (passed_between_slices(instruction)) continue;
      const std::optional<size_t> earlier = origin(instruction);
      const bool ends = earlier && is_end(instruction);
      if (ends) finish(*earlier);
      if (!ends) pass(instruction);
      if (!earlier) {
        begin(i, instruction);
      } else if (!ends) {
        belongs_[i] = *earlier;
        // What a start announces begins when it is given its operand.
        if (instruction.opcode == "async-update") started(found_[*earlier]);
      }
    }
  }

 private:
  // What a send and its recv have in common.
  static std::string meeting_of(const Instruction& i) {
    return i.meeting.empty() ? std::to_string(i.channel) : i.meeting;
  }

  // A send begins it, and the end of its recv ends it.
  bool passed_between_slices(const Instruction& instruction) {
    const std::string_view opcode = instruction.opcode;
    if (opcode == "recv-done" && !instruction.operands.empty()) {
      const auto sent = sent_.find(meeting_of(computation_.instructions[instruction.operands[0]]));
      if (sent == sent_.end()) return false;
      finish(sent->second);
      return true;
    }
    if (opcode != "send" || instruction.transfer.empty() || instruction.operands.empty()) return false;
    Collective collective;
    for (const auto& [transfer, kind] : kTransfers) {
      if (transfer == instruction.transfer) collective.kind = kind;
    }
    if (collective.kind.empty()) collective.kind = "collective-permute";
    const Shape& shape = computation_.instructions[instruction.operands[0]].shape;
    collective.scope = instruction.scope;
    collective.dtype = shape.dtype;
    collective.bytes = shape.bytes();
    collective.runs = runs_;
    collective.async = collective.between_slices = true;
    started(collective);
    found_.push_back(std::move(collective));
    sent_[meeting_of(instruction)] = found_.size() - 1;
    under_way_.insert(found_.size() - 1);
    return true;
  }

  // The collective under way that an instruction goes on with.
  std::optional<size_t> origin(const Instruction& instruction) const {
    for (size_t operand : instruction.operands) {
      const auto found = belongs_.find(operand);
      if (found == belongs_.end() || !under_way_.contains(found->second)) continue;
      const bool passes = instruction.opcode == "get-tuple-element" || instruction.opcode == "async-update";
      if (passes || is_end(instruction) || find_in(module_, computation_, instruction)) return found->second;
    }
    return std::nullopt;
  }

  bool is_end(const Instruction& instruction) const {
    return std::string_view(instruction.opcode).ends_with(kDone) ||
           calls_target(module_, instruction, "AsyncCollectiveDone");
  }

  void started(Collective& collective) const {
    collective.computation = index_;
    collective.start = collective.end = at_;
    collective.start_cycles = collective.end_cycles = cycles_;
    collective.window = {};
  }

  void finish(size_t collective) {
    under_way_.erase(collective);
    found_[collective].end = at_;
    found_[collective].end_cycles = cycles_;
  }

  void pass(const Instruction& instruction) {
    const Cost cost = costs_.of(instruction);
    cycles_ += cost.cycles;
    for (size_t collective : under_way_) found_[collective].window += cost;
  }

  void begin(size_t index, const Instruction& instruction) {
    const std::optional<Written> written = find_in(module_, computation_, instruction);
    if (!written) return;
    Collective collective;
    fill(collective, *written);
    collective.scope = written->instruction->scope.empty() ? instruction.scope : written->instruction->scope;
    collective.runs = runs_;
    collective.async = std::string_view(instruction.opcode).ends_with(kStart) ||
                       calls_target(module_, instruction, "AsyncCollectiveStart");
    started(collective);
    found_.push_back(std::move(collective));
    if (!found_.back().async) return;
    belongs_[index] = found_.size() - 1;
    under_way_.insert(found_.size() - 1);
  }

  const Costs& costs_;
  const Module& module_;
  const size_t index_;
  const Computation& computation_;
  std::vector<Collective>& found_;
  double runs_ = 0;
  size_t at_ = 0;                     // the instruction that is looked at
  double cycles_ = 0;                 // of those before it
  std::map<size_t, size_t> belongs_;  // of an instruction: the collective that it began or goes on with
  std::map<std::string, size_t> sent_;
  std::set<size_t> under_way_;
};

using Groups = std::set<std::vector<int64_t>>;

Groups in_order(const std::vector<std::vector<int64_t>>& groups) {
  Groups sets;
  for (std::vector<int64_t> group : groups) {
    std::sort(group.begin(), group.end());
    sets.insert(std::move(group));
  }
  return sets;
}

std::string names_of(const std::vector<int64_t>& axes, const Mesh& mesh) {
  std::string names;
  for (int64_t axis : axes) names += (names.empty() ? "" : ", ") + mesh.axes()[axis].name;
  return names;
}

}  // namespace

int64_t Collective::size() const {
  if (kind == "collective-permute") return 2;
  return groups.empty() ? 1 : static_cast<int64_t>(groups[0].size());
}

double Collective::received() const {
  const auto n = static_cast<double>(size()), all = static_cast<double>(bytes);
  if (kind == "collective-permute" || kind == "collective-broadcast") return all;
  return (kind == "all-reduce" ? 2 : 1) * (n - 1) / n * all;
}

std::vector<Collective> collectives_of(const Costs& costs) {
  std::vector<Collective> found;
  for (size_t c = 0; c < costs.module().computations.size(); ++c) {
    if (costs.runs(c) > 0) Scan(costs, c, found).run();
  }
  return found;
}

bool is_collective(const Module& module, const Instruction& instruction) {
  if (instruction.opcode == "send" || instruction.opcode == "recv") return true;
  return find_in(module, module.entry(), instruction).has_value();
}

std::string axes_of(const Collective& collective, const Mesh& mesh) {
  if (collective.kind == "collective-permute") {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < mesh.rank(); ++axis) {
      const bool moves = std::any_of(collective.groups.begin(), collective.groups.end(), [&](const auto& pair) {
        return pair.size() == 2 && std::max(pair[0], pair[1]) < mesh.size() &&
               mesh.coordinate(pair[0], axis) != mesh.coordinate(pair[1], axis);
      });
      if (moves) axes.push_back(axis);
    }
    return axes.empty() ? "other" : names_of(axes, mesh);
  }
  const Groups groups = in_order(collective.groups);
  for (int64_t chosen = 1; chosen < int64_t{1} << mesh.rank(); ++chosen) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < mesh.rank(); ++axis) {
      if ((chosen >> axis) % 2 == 1) axes.push_back(axis);
    }
    if (mesh.size_over(axes) == collective.size() && in_order(mesh.groups(axes)) == groups) return names_of(axes, mesh);
  }
  return "other";
}

}  // namespace tethys::hlo
