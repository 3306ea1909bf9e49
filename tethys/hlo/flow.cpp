#include "hlo/flow.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "base/error.h"

namespace tethys::hlo {
namespace {

bool is_one_of(std::string_view opcode, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), opcode) != names.end();
}

}  // namespace

// An instruction has a node for each of its arrays, and one through which all its operands reach all of them where no
// more is known.
Flow::Flow(const Module& module) : module_(module), first_(module.computations.size()) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    for (size_t i = 0; i < module.computations[c].instructions.size(); ++i) {
      first_[c].push_back(owners_.size());
      owners_.insert(owners_.end(), count(c, i) + 1, &module.computations[c].instructions[i]);
    }
  }
  next_.resize(owners_.size());
  previous_.resize(owners_.size());
  for (size_t c = 0; c < module.computations.size(); ++c) {
    connect(c, module.computations[c]);
    connect_meetings(c, module.computations[c]);
  }
}

size_t Flow::count(size_t computation, size_t instruction) const {
  return leaf_count(module_.computations[computation].instructions[instruction].shape);
}

void Flow::join(size_t from, size_t to) {
  next_[from].push_back(to);
  previous_[to].push_back(from);
}

void Flow::join_each(size_t from, size_t from_count, size_t to, size_t to_count) {
  for (size_t leaf = 0; leaf < std::min(from_count, to_count); ++leaf) join(from + leaf, to + leaf);
}

void Flow::connect(size_t c, const Computation& body) {
  for (size_t index = 0; index < body.instructions.size(); ++index) {
    const Instruction& i = body.instructions[index];
    const size_t own = first_[c][index], leaves = count(c, index);
    if (is_one_of(i.opcode, {"while", "call", "conditional", "fusion"})) {
      connect_calls(c, index, i);
    } else if (i.opcode == "get-tuple-element" && !i.operands.empty()) {
      const auto& parts = body.instructions[i.operands[0]].shape.parts;
      size_t skipped = 0;
      for (int64_t part = 0; part < std::min<int64_t>(i.index, static_cast<int64_t>(parts.size())); ++part) {
        skipped += leaf_count(parts[part]);
      }
      join_each(first_[c][i.operands[0]] + skipped, leaves, own, leaves);
    } else if (i.opcode == "tuple" || (is_one_of(i.opcode, {"all-reduce", "all-gather", "reduce-scatter",
                                                            "collective-permute", "optimization-barrier"}))) {
      size_t filled = 0;  // the operands' arrays one after the other are the result's
      for (size_t operand : i.operands) {
        const size_t more = std::min(count(c, operand), leaves - filled);
        join_each(first_[c][operand], more, own + filled, more);
        filled += more;
      }
    } else {
      connect_all(i, c, index);
    }
  }
}

// What comes from other slices is of the kind of what is sent to them.
void Flow::connect_meetings(size_t c, const Computation& body) {
  for (size_t sent = 0; sent < body.instructions.size(); ++sent) {
    const Instruction& send = body.instructions[sent];
    if (send.opcode != "send" || send.operands.empty()) continue;
    for (size_t received = 0; received < body.instructions.size(); ++received) {
      const Instruction& recv = body.instructions[received];
      if (recv.opcode == "recv" && recv.meeting == send.meeting) join(first_[c][send.operands[0]], first_[c][received]);
    }
  }
}

void Flow::connect_all(const Instruction& i, size_t c, size_t index) {
  const size_t own = first_[c][index], leaves = count(c, index), all = own + leaves;
  for (size_t operand : i.operands) {
    for (size_t leaf = 0; leaf < count(c, operand); ++leaf) join(first_[c][operand] + leaf, all);
  }
  for (size_t leaf = 0; leaf < leaves; ++leaf) join(all, own + leaf);
}

// A loop runs its first computation; what that gives is what it is given next.
void Flow::connect_calls(size_t c, size_t index, const Instruction& i) {
  const bool loops = i.opcode == "while", chooses = i.opcode == "conditional";
  const size_t own = first_[c][index], leaves = count(c, index);
  const size_t called = loops ? std::min<size_t>(1, i.calls.size()) : i.calls.size();
  for (size_t n = 0; n < called; ++n) {
    const Computation& body = module_.computations[i.calls[n]];
    const size_t root = first_[i.calls[n]][body.root], root_leaves = count(i.calls[n], body.root);
    for (size_t p = 0; p < body.instructions.size(); ++p) {
      const Instruction& parameter = body.instructions[p];
      if (parameter.opcode != "parameter" || parameter.index < 0) continue;
      const size_t to = first_[i.calls[n]][p], to_leaves = count(i.calls[n], p);
      const size_t operand = chooses ? n + 1 : static_cast<size_t>(parameter.index);
      if (operand < i.operands.size()) {
        join_each(first_[c][i.operands[operand]], count(c, i.operands[operand]), to, to_leaves);
      }
      if (loops) join_each(root, root_leaves, to, to_leaves);
    }
    join_each(root, root_leaves, own, leaves);
  }
  if (loops && !i.operands.empty()) join_each(first_[c][i.operands[0]], count(c, i.operands[0]), own, leaves);
}

Flow::Marks Flow::reached(const std::vector<size_t>& nodes, const std::vector<std::vector<size_t>>& edges) {
  Marks marks(edges.size(), 0);
  std::vector<size_t> open;
  const auto mark = [&](size_t node) {
    if (marks[node] == 0) open.push_back(node);
    marks[node] = 1;
  };
  for (size_t node : nodes) mark(node);
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    for (size_t to : edges[node]) mark(to);
  }
  return marks;
}

std::vector<size_t> Flow::argument(int64_t number) const {
  const Computation& entry = module_.entry();
  std::vector<size_t> nodes;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    if (entry.instructions[i].opcode != "parameter" || entry.instructions[i].index != number) continue;
    for (size_t leaf = 0; leaf < count(module_.entry_index, i); ++leaf) {
      nodes.push_back(first_[module_.entry_index][i] + leaf);
    }
  }
  return nodes;
}

std::vector<size_t> Flow::result(size_t leaf) const {
  const size_t root = module_.entry().root;
  require(leaf < count(module_.entry_index, root), "a program has no result {}", leaf);
  return {first_[module_.entry_index][root] + leaf};
}

}  // namespace tethys::hlo
