#include "estimate/memory_peak.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/glob.h"
#include "hlo/costs.h"
#include "hlo/flow.h"

namespace tethys {
namespace {

std::vector<size_t> arguments_from(const hlo::Flow& flow, int64_t begin, int64_t end) {
  std::vector<size_t> nodes;
  for (int64_t number = begin; number < end; ++number) {
    for (size_t node : flow.argument(number)) nodes.push_back(node);
  }
  return nodes;
}

// What values are for, by what they depend on and what depends on them. The head is where the way back begins: what
// depends on it, and the loss does not on that, is of the backward.
class Uses {
 public:
  Uses(const hlo::Module& module, const StepLayout& layout)
      : module_(module),
        flow_(module),
        from_batch_(flow_.after(arguments_from(flow_, layout.state, layout.arguments))),
        from_state_(flow_.after(arguments_from(flow_, 0, layout.state))),
        for_loss_(flow_.before(flow_.result(layout.loss))),
        of_head_(flow_.nodes(), 0),
        of_backward_loop_(module.computations.size(), 0) {
    std::vector<size_t> head;
    for (size_t node = 0; node < flow_.nodes(); ++node) {
      const bool of_head = flow_.instruction(node).scope == layout.head && from_batch_[node] != 0;
      if (!of_head || for_loss_[node] == 0) continue;
      of_head_[node] = 1;
      head.push_back(node);
    }
    after_head_ = flow_.after(head);
    find_backward_loops(module.entry_index, false);
  }

  bool is_activation(const hlo::ValueAt& value) const {
    const size_t node = flow_.node(value);
    if (from_batch_[node] == 0 || of_backward_loop_[value.computation] != 0) return false;
    return for_loss_[node] != 0 ? is_read_later(node) : after_head_[node] == 0;
  }
  bool from_batch(const hlo::ValueAt& value) const { return from_batch_[flow_.node(value)] != 0; }
  bool from_state(const hlo::ValueAt& value) const { return from_state_[flow_.node(value)] != 0; }

 private:
  // Loops that give what is of the backward, and do not run the head themselves as one over microbatches does. What is
  // computed again in them is no activation, though it depends on nothing of the backward.
  void find_backward_loops(size_t computation, bool inside) {
    of_backward_loop_[computation] = static_cast<char>(inside);
    const auto& instructions = module_.computations[computation].instructions;
    for (size_t index = 0; index < instructions.size(); ++index) {
      const hlo::Instruction& i = instructions[index];
      if (!hlo::is_control(i)) continue;
      bool backward = inside;
      if (i.opcode == "while" && !inside) backward = gives_gradients(computation, index) && !runs_head(i);
      for (size_t called : i.calls) find_backward_loops(called, backward);
    }
  }

  bool gives_gradients(size_t computation, size_t index) const {
    const hlo::Instruction& loop = module_.computations[computation].instructions[index];
    for (size_t leaf = 0; leaf < hlo::leaf_count(loop.shape); ++leaf) {
      const size_t node = flow_.node({computation, index, leaf});
      if (after_head_[node] != 0 && for_loss_[node] == 0) return true;
    }
    return false;
  }

  bool runs_head(const hlo::Instruction& i) const {
    for (size_t called : i.calls) {
      const auto& instructions = module_.computations[called].instructions;
      for (size_t index = 0; index < instructions.size(); ++index) {
        if (of_head_[flow_.node({called, index, 0})] != 0 || runs_head(instructions[index])) return true;
      }
    }
    return false;
  }

  // Whether something that the loss does not depend on reads it where it is: a stack that it is copied into is a value
  // of its own.
  bool is_read_later(size_t node) const {
    std::set<size_t> seen;
    std::vector<size_t> open = {node};
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      for (size_t reader : flow_.next(at)) {
        if (for_loss_[reader] != 0 || !seen.insert(reader).second) continue;
        if (after_head_[reader] != 0 || hlo::is_control(flow_.instruction(reader))) return true;
        if (hlo::is_free(flow_.instruction(reader))) open.push_back(reader);
      }
    }
    return false;
  }

  const hlo::Module& module_;
  hlo::Flow flow_;
  hlo::Flow::Marks from_batch_, from_state_, for_loss_, of_head_, after_head_;
  std::vector<char> of_backward_loop_;
};

const char* use_of(const hlo::LiveBuffer& buffer, const Uses& uses) {
  const auto any = [&](const auto& holds) { return std::any_of(buffer.values.begin(), buffer.values.end(), holds); };
  if (any([&](const hlo::ValueAt& v) { return uses.is_activation(v); })) return "activation";
  if (any([&](const hlo::ValueAt& v) { return uses.from_batch(v); })) return "other";
  return any([&](const hlo::ValueAt& v) { return uses.from_state(v); }) ? "weights" : "other";
}

// The module that one of the values is from: a buffer is often made empty, and filled by something that has a name.
std::string module_of(const hlo::MemoryPlan& plan, const hlo::LiveBuffer& buffer) {
  for (const hlo::ValueAt& value : buffer.values) {
    if (!plan.at(value).scope.empty()) return with_stars(plan.at(value).scope);
  }
  return "";
}

}  // namespace

MemoryPeak memory_peak(const hlo::MemoryPlan& plan, const StepLayout& layout) {
  const Uses uses(plan.module, layout);
  MemoryPeak peak;
  for (const hlo::LiveBuffer& live : plan.fullest) {
    const hlo::Instruction& made = plan.at(live.values.front());
    const hlo::Shape& shape = hlo::leaf_of(made.shape, live.values.front().leaf);
    PeakBuffer buffer{use_of(live, uses),
                      made.opcode,
                      fmt::format("{}[{}]", shape.dtype, fmt::join(shape.dims, ",")),
                      module_of(plan, live),
                      made.name,
                      1,
                      live.bytes};
    (buffer.use == "activation" ? peak.activations
     : buffer.use == "weights"  ? peak.weights
                                : peak.others) += live.bytes;
    const auto alike = std::find_if(peak.buffers.begin(), peak.buffers.end(), [&](const PeakBuffer& b) {
      return b.use == buffer.use && b.op == buffer.op && b.type == buffer.type && b.module == buffer.module &&
             b.bytes == buffer.bytes;
    });
    if (alike == peak.buffers.end()) {
      peak.buffers.push_back(std::move(buffer));
    } else {
      ++alike->count;
    }
  }
  std::stable_sort(peak.buffers.begin(), peak.buffers.end(),
                   [](const PeakBuffer& a, const PeakBuffer& b) { return a.count * a.bytes > b.count * b.bytes; });
  return peak;
}

}  // namespace tethys
