// Where a compiler put the values of a program that it wrote down whole (xla_dump_hlo_as_proto): what the device's
// memory holds at the point of the schedule where its temporaries are most. A program too large to run has a plan too.
// Plain values, freely copied.
//
//   const hlo::MemoryPlan plan = hlo::read_memory_plan(read_file("….after_optimizations.hlo.pb"));
//   for (const hlo::LiveBuffer& b : plan.fullest) …   plan.at(b.values[0]).opcode, b.bytes
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace tethys::hlo {

// One array that an instruction gives: the instruction's own shape, or part number `leaf` of its tuple, arrays of inner
// tuples counted in order.
struct ValueAt {
  size_t computation = 0;
  size_t instruction = 0;
  size_t leaf = 0;
  bool operator==(const ValueAt&) const = default;
};

// A piece of memory, and the values that take turns in it.
struct LiveBuffer {
  std::vector<ValueAt> values;  // the first is what it was made for
  int64_t bytes = 0;            // with what tiles pad
};

struct MemoryPlan {
  Module module;
  int64_t temporaries = 0;          // bytes of the arena that they share
  std::vector<LiveBuffer> fullest;  // the largest first

  const Instruction& at(const ValueAt& value) const {
    return module.computations[value.computation].instructions[value.instruction];
  }
};

// UserError if the bytes are no program with a plan.
MemoryPlan read_memory_plan(std::string_view bytes);

// The arrays of a shape, those of inner tuples in order.
size_t leaf_count(const Shape& shape);
const Shape& leaf_of(const Shape& shape, size_t leaf);

}  // namespace tethys::hlo
