// Programs made by hand, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hlo/module.h"

namespace tethys::hlo {

inline Shape shape(std::string dtype, std::vector<int64_t> dims = {}) {
  return {std::move(dtype), std::move(dims), {}};
}

// A computation that grows; what is added last is its result.
class MadeComputation {
 public:
  explicit MadeComputation(std::string name, std::string thread = "") {
    made_ = {std::move(name), std::move(thread), {}, 0};
  }

  size_t add(Instruction instruction) {
    made_.instructions.push_back(std::move(instruction));
    made_.root = made_.instructions.size() - 1;
    return made_.root;
  }
  size_t add(std::string opcode, Shape shape, std::vector<size_t> operands = {}, std::vector<size_t> calls = {}) {
    Instruction i;
    i.opcode = std::move(opcode);
    i.name = i.opcode + "." + std::to_string(made_.instructions.size());
    i.shape = std::move(shape);
    i.operands = std::move(operands);
    i.calls = std::move(calls);
    return add(i);
  }
  size_t constant(int64_t value) {
    const size_t index = add("constant", shape("s32"));
    last().value = value;
    return index;
  }
  size_t parameter(int64_t number, Shape shape) {
    const size_t index = add("parameter", std::move(shape));
    last().index = number;
    return index;
  }
  size_t element(size_t tuple, int64_t number, Shape shape) {
    const size_t index = add("get-tuple-element", std::move(shape), {tuple});
    last().index = number;
    return index;
  }
  // With an estimate of the compiler's, and FLOPs if it is a matrix product.
  size_t work(int64_t cycles, std::vector<size_t> operands, double flops = 0, const std::string& scope = "") {
    const size_t index = add(flops > 0 ? "dot" : "add", shape("f32", {8}), std::move(operands));
    last().cycles = cycles;
    last().flops = flops;
    last().scope = scope;
    return index;
  }
  Instruction& last() { return made_.instructions.back(); }
  const Computation& get() const { return made_; }

 private:
  Computation made_;
};

inline Shape tuple_of(std::vector<Shape> parts) { return {"tuple", {}, std::move(parts)}; }

// `counter` < `bound` of a loop that carries (s32, f32[8]).
inline MadeComputation condition(int64_t bound, const std::string& direction = "LT") {
  MadeComputation c("condition");
  const size_t carried = c.parameter(0, tuple_of({shape("s32"), shape("f32", {8})}));
  const size_t counter = c.element(carried, 0, shape("s32")), limit = c.constant(bound);
  c.add("compare", shape("pred"), {counter, limit});
  c.last().comparison = direction;
  return c;
}

}  // namespace tethys::hlo
