// What a compiled program is estimated to cost: the compiler's cycles and the FLOPs of its matrix products, over loops
// as often as they run. Collectives and what the compiler gives no cycles for are left out, and listed.
//
//   const hlo::Costs costs(module);
//   costs.total().cycles, costs.by_op(), costs.by_scope(), costs.without_estimate()
//
// Refers to the module, which must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hlo/module.h"

namespace tethys::hlo {

struct Cost {
  double cycles = 0;
  double matmul_cycles = 0;  // of these, those of instructions that hold a matrix product
  double flops = 0;          // of matrix products

  Cost& operator+=(const Cost& other);
  Cost times(double factor) const;
};

// What is alike in one respect.
struct CostLine {
  std::string what;
  double runs = 0;
  double bytes = 0;  // of results
  Cost cost;
};

class Costs {
 public:
  explicit Costs(const Module& module);

  const Module& module() const { return module_; }
  // Of one run of an instruction; of a loop: all its iterations.
  Cost of(const Instruction& instruction) const;
  const Cost& total() const { return of_computation_[module_.entry_index]; }
  // Iterations of a loop; 1 for one that could not be read, which unread_loops counts.
  double iterations(const Instruction& loop) const;
  int64_t unread_loops() const { return unread_loops_; }
  // How often a computation runs in one run of the program, where loops and calls run it; 0 for what runs inside of an
  // instruction.
  double runs(size_t computation) const { return runs_[computation]; }

  // By kind of instruction, and by the module of the model that it is from, layers as "*"; the largest first.
  std::vector<CostLine> by_op() const;
  std::vector<CostLine> by_scope() const;
  // Instructions that compute and have no estimate, by kind; with FLOPs where they have matrix products.
  std::vector<CostLine> without_estimate() const;

  // FLOPs of the matrix products in an instruction and in what it calls.
  double flops_inside(const Instruction& instruction) const;

  // "fusion with a matrix product", "custom call tpu_custom_call", "copy".
  std::string kind_of(const Instruction& instruction) const;

 private:
  template <typename Chosen, typename Named>
  std::vector<CostLine> lines(const Chosen& chosen, const Named& named) const;
  void add_up(size_t computation);
  void spread_runs(size_t computation, double runs);

  const Module& module_;
  std::vector<Cost> of_computation_;
  std::vector<char> added_up_;
  std::vector<double> runs_;
  std::map<const Instruction*, double> iterations_;
  int64_t unread_loops_ = 0;
};

// Whether it runs other computations in its place, as a loop or a call does.
bool is_control(const Instruction& instruction);

// Whether it only names what is there, or ends what another began: it costs nothing by itself.
bool is_free(const Instruction& instruction);

}  // namespace tethys::hlo
