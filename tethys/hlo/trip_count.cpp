#include "hlo/trip_count.h"

#include <string_view>
#include <utility>
#include <vector>

namespace tethys::hlo {
namespace {

// An integer as far as it can be followed: `offset` more than element number `element` of what a loop carries, or
// `offset` itself where element is −1.
struct Known {
  int64_t element = -1;
  int64_t offset = 0;
};

// Where the parameters of a computation come from: the operands of the fusion that calls it, in the caller; or nothing:
// they are what a loop carries.
struct Frame {
  const Computation* computation = nullptr;
  const Frame* caller = nullptr;
  const Instruction* call = nullptr;

  const Instruction& at(size_t index) const { return computation->instructions[index]; }
};

constexpr int kDeepest = 64;

class Follower {
 public:
  explicit Follower(const Module& module) : module_(module) {}

  std::optional<Known> follow(const Frame& frame, size_t index, int depth = 0) const {
    if (depth > kDeepest) return std::nullopt;
    const Instruction& i = frame.at(index);
    const auto operand = [&](size_t n) { return follow(frame, i.operands.at(n), depth + 1); };
    if (i.opcode == "constant") return i.value ? std::optional(Known{-1, *i.value}) : std::nullopt;
    if (is_passing(i.opcode) && !i.operands.empty()) return operand(0);
    if (i.opcode == "parameter") return follow_parameter(frame, i, depth);
    if (i.opcode == "get-tuple-element" && !i.operands.empty()) return follow_element(frame, i, depth);
    if (i.opcode == "fusion" && !i.calls.empty()) {
      const Frame inside{&module_.computations[i.calls[0]], &frame, &i};
      return follow(inside, inside.computation->root, depth + 1);
    }
    if ((i.opcode == "add" || i.opcode == "subtract") && i.operands.size() == 2) {
      const auto a = operand(0), b = operand(1);
      if (!a || !b || b->element != -1)
        return a && b && i.opcode == "add" && a->element == -1 ? sum(*b, a->offset) : std::nullopt;
      return sum(*a, i.opcode == "add" ? b->offset : -b->offset);
    }
    return std::nullopt;
  }

 private:
  static std::optional<Known> sum(Known known, int64_t more) {
    known.offset += more;
    return known;
  }

  static bool is_passing(std::string_view opcode) {
    for (std::string_view name :
         {"copy", "bitcast", "convert", "reshape", "copy-done", "copy-start", "optimization-barrier"}) {
      if (opcode == name) return true;
    }
    return false;
  }

  std::optional<Known> follow_parameter(const Frame& frame, const Instruction& parameter, int depth) const {
    if (frame.caller == nullptr) return std::nullopt;  // all that the loop carries: only elements are integers
    if (parameter.index < 0 || parameter.index >= static_cast<int64_t>(frame.call->operands.size()))
      return std::nullopt;
    return follow(*frame.caller, frame.call->operands[parameter.index], depth + 1);
  }

  std::optional<Known> follow_element(const Frame& frame, const Instruction& element, int depth) const {
    const Instruction& tuple = frame.at(element.operands[0]);
    if (tuple.opcode == "parameter" && frame.caller == nullptr) return Known{element.index, 0};
    if (tuple.opcode != "tuple") return std::nullopt;
    if (element.index < 0 || element.index >= static_cast<int64_t>(tuple.operands.size())) return std::nullopt;
    return follow(frame, tuple.operands[element.index], depth + 1);
  }

  const Module& module_;
};

// What a computation's result compares.
struct Comparison {
  std::string direction;
  Known left, right;
};

std::optional<Comparison> comparison_of(const Module& module, const Computation& condition) {
  const Follower follower(module);
  Frame outer{&condition, nullptr, nullptr}, inner;
  const Frame* frame = &outer;
  const Instruction* root = &condition.instructions[condition.root];
  if (root->opcode == "fusion" && !root->calls.empty()) {
    inner = {&module.computations[root->calls[0]], &outer, root};
    frame = &inner;
    root = &inner.at(inner.computation->root);
  }
  if (root->opcode != "compare" || root->operands.size() != 2) return std::nullopt;
  const auto left = follower.follow(*frame, root->operands[0]), right = follower.follow(*frame, root->operands[1]);
  if (!left || !right) return std::nullopt;
  return Comparison{root->comparison, *left, *right};
}

std::optional<int64_t> element_of_tuple(const Module& module, const Computation& computation, size_t tuple,
                                        int64_t element, int64_t carried) {
  const Instruction& i = computation.instructions[tuple];
  if (i.opcode != "tuple" || element >= static_cast<int64_t>(i.operands.size())) return std::nullopt;
  const auto known = Follower(module).follow({&computation, nullptr, nullptr}, i.operands[element]);
  return known && known->element == carried ? std::optional(known->offset) : std::nullopt;
}

std::optional<int64_t> count(const std::string& direction, int64_t distance, int64_t step) {
  if (direction == "GT" || direction == "GE") return count(direction == "GT" ? "LT" : "LE", -distance, -step);
  if (direction == "NE" && step != 0 && distance % step == 0 && distance / step >= 0) return distance / step;
  if ((direction != "LT" && direction != "LE") || step <= 0) return std::nullopt;
  const int64_t reach = direction == "LE" ? distance + 1 : distance;
  return reach <= 0 ? 0 : (reach + step - 1) / step;
}

std::string mirrored(const std::string& direction) {
  for (const auto& [a, b] :
       {std::pair("LT", "GT"), std::pair("GT", "LT"), std::pair("LE", "GE"), std::pair("GE", "LE")}) {
    if (direction == a) return b;
  }
  return direction;
}

}  // namespace

std::optional<int64_t> trip_count(const Module& module, const Computation& computation, const Instruction& loop) {
  if (loop.calls.size() != 2 || loop.operands.size() != 1) return std::nullopt;
  const Computation& body = module.computations[loop.calls[0]];
  auto compared = comparison_of(module, module.computations[loop.calls[1]]);
  if (!compared) return std::nullopt;
  const auto initial = [&](int64_t element) {
    return element_of_tuple(module, computation, loop.operands[0], element, -1);
  };
  const auto step_of = [&](int64_t element) { return element_of_tuple(module, body, body.root, element, element); };
  // The side that moves is the counter.
  const auto moves = [&](const Known& side) { return side.element != -1 && step_of(side.element).value_or(0) != 0; };
  if (!moves(compared->left)) {
    std::swap(compared->left, compared->right);
    compared->direction = mirrored(compared->direction);
  }
  const auto [direction, counter, bound] = *compared;
  if (!moves(counter)) return std::nullopt;
  const auto first = initial(counter.element), step = step_of(counter.element);
  std::optional<int64_t> limit = bound.offset;
  if (bound.element != -1) {
    const auto start = initial(bound.element);
    if (!start || step_of(bound.element) != 0) return std::nullopt;
    limit = *start + bound.offset;
  }
  if (!first) return std::nullopt;
  return count(direction, *limit - (*first + counter.offset), *step);
}

}  // namespace tethys::hlo
