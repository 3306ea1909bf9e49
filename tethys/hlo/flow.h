// What in a program follows from what, array by array: through tuples, loops, calls and fusions.
//
//   const hlo::Flow flow(module);
//   const hlo::Flow::Marks fed = flow.after(flow.argument(0));     // all that argument 0 has a part in
//   const hlo::Flow::Marks needed = flow.before(flow.result(2));   // all that result 2 depends on
//   if (fed[flow.node(value)]) …
//
// Refers to the module, which must outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/memory_plan.h"
#include "hlo/module.h"

namespace tethys::hlo {

class Flow {
 public:
  explicit Flow(const Module& module);

  // One for each node: whether it is among those asked for.
  using Marks = std::vector<char>;

  Marks after(const std::vector<size_t>& nodes) const { return reached(nodes, next_); }
  Marks before(const std::vector<size_t>& nodes) const { return reached(nodes, previous_); }

  size_t node(const ValueAt& value) const { return first_[value.computation][value.instruction] + value.leaf; }
  const std::vector<size_t>& next(size_t node) const { return next_[node]; }
  const std::vector<size_t>& previous(size_t node) const { return previous_[node]; }
  size_t nodes() const { return next_.size(); }
  // That the node is of.
  const Instruction& instruction(size_t node) const { return *owners_[node]; }
  // Of the program: all arrays of an argument, and one of its result.
  std::vector<size_t> argument(int64_t number) const;
  std::vector<size_t> result(size_t leaf) const;

 private:
  void connect(size_t computation, const Computation& body);
  void connect_calls(size_t computation, size_t index, const Instruction& i);
  void connect_meetings(size_t computation, const Computation& body);
  void connect_all(const Instruction& i, size_t computation, size_t index);
  void join(size_t from, size_t to);
  // Array by array, as far as both have them.
  void join_each(size_t from, size_t from_count, size_t to, size_t to_count);
  size_t count(size_t computation, size_t instruction) const;
  static Marks reached(const std::vector<size_t>& nodes, const std::vector<std::vector<size_t>>& edges);

  const Module& module_;
  std::vector<std::vector<size_t>> first_;  // of an instruction of a computation: the node of its first array
  std::vector<std::vector<size_t>> next_, previous_;
  std::vector<const Instruction*> owners_;
};

}  // namespace tethys::hlo
