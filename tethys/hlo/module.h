// A program as a compiler left it: instructions in the order in which they are scheduled, with what the compiler says
// of each. Read from the bytes that Executable::optimized_program gives; plain values, freely copied.
//
//   const hlo::Module module = hlo::read_module(program.code);
//   for (const hlo::Instruction& i : module.entry().instructions) …  i.opcode, i.cycles
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tethys::hlo {

// Of an array, or of a tuple: then its elements are `parts`.
struct Shape {
  std::string dtype;  // "bf16", "f32", "tuple"; "" for what is no number
  std::vector<int64_t> dims;
  std::vector<Shape> parts;

  int64_t elements() const;
  int64_t bytes() const;  // of all parts together
};

struct Instruction {
  std::string name;
  int64_t id = 0;      // of this instruction in the whole module
  std::string opcode;  // "fusion", "all-gather"
  Shape shape;
  std::string scope;                         // what the program's source says of where it is from; "" if nothing
  std::vector<size_t> operands;              // of the same computation
  std::vector<size_t> calls;                 // computations
  std::string target;                        // of a custom call
  std::string comparison;                    // "LT" of a compare
  int64_t index = -1;                        // of a tuple's element, or of a parameter
  std::optional<int64_t> value;              // of an integer constant
  std::optional<int64_t> cycles;             // that the compiler estimates; nothing where it does not
  int64_t channel = 0;                       // that a send and its recv share
  std::string transfer;                      // of a send to the programs of other slices: "ALL_REDUCE"
  std::string meeting;                       // likewise: a name that it shares with its recv, where channels differ
  double flops = 0;                          // of a matrix product or convolution
  std::vector<std::vector<int64_t>> groups;  // of devices, of a collective; of a permute: its pairs
};

struct Computation {
  std::string name;
  std::string thread;  // that runs it, such as "sparsecore"; "" for the main one
  std::vector<Instruction> instructions;
  size_t root = 0;
};

struct Module {
  std::string name;
  std::vector<Computation> computations;
  size_t entry_index = 0;

  const Computation& entry() const { return computations[entry_index]; }
};

// UserError if the bytes are no such program. Operands and calls are checked: they exist.
Module read_module(std::string_view bytes);

namespace wire {
class Module;
}
Module read_module(const wire::Module& from);

// Of devices 0 … size−1: an iota reshaped to `dims`, transposed by `order`, and cut into runs of `size`.
std::vector<std::vector<int64_t>> groups_of_iota(const std::vector<int64_t>& dims, const std::vector<int64_t>& order,
                                                 int64_t size);

}  // namespace tethys::hlo
