// StepEstimate: what a compiled step would take, from the compiler's cycles and from the bytes of its collectives over
// the rate of the links. Nothing here was measured.
//
// The model: instructions run one after the other, in the order of the compiler's schedule, for the cycles that it
// estimates. A collective takes the bytes that a device receives over the rate at which its links bring them; the links
// serve one after the other, in the order of their starts. The program waits at each one's end for what is left of it.
//
//   const StepEstimate estimate = estimate_step(hlo::read_module(program.code), setup.mesh, slice);
//   estimate.seconds(), estimate.collectives[0].is_covered
#pragma once

#include <string>
#include <vector>

#include "estimate/tpu_kind.h"
#include "hlo/collectives.h"
#include "hlo/costs.h"
#include "values/mesh.h"

namespace tethys {

// One place of the program from which something is sent, as often as it runs.
struct CollectiveEstimate {
  std::string kind;
  std::string axes;   // of the mesh
  std::string scope;  // the module that it is for, layers as "*"; "" if the program does not say
  std::string dtype;
  double runs = 0;
  double bytes = 0;            // that a device receives in one run
  double seconds = 0;          // of one run, at the links' rate
  double product_seconds = 0;  // of matrix products between its start and its end, in one run
  double exposed = 0;          // seconds that the program waits for it, in one run
  bool is_async = false;
  bool is_covered = false;  // by matrix products that take as long
  bool reduces_gradients = false;
  bool between_slices = false;

  // Parameters are gathered over dp_shard; over tp it is activations, which what comes next waits for.
  bool gathers_parameters() const { return kind == "all-gather" && axes.find("dp_shard") != std::string::npos; }
};

struct StepEstimate {
  double compute_seconds = 0;
  double product_seconds = 0;  // of these, of instructions that hold matrix products
  double exposed_seconds = 0;  // of collectives
  double flops = 0;            // of matrix products, recomputed ones too
  std::vector<CollectiveEstimate> collectives;
  std::vector<hlo::CostLine> by_op, by_scope, without_estimate;
  int64_t unread_loops = 0;  // counted as one iteration
  // Bytes that a device receives to reduce gradients, and what full all-reduces in the same dtypes would be.
  double reduced_bytes = 0;
  double all_reduced_bytes = 0;

  double seconds() const { return compute_seconds + exposed_seconds; }
  // Of the bytes that gathers of parameters bring, those that matrix products cover; 1 if nothing is gathered.
  double covered_share() const;
  // Of the time that the links take for gathers of parameters, what the program waits for: other instructions than
  // matrix products, and the experts' of which there is no estimate, may hide a gather too. 0 if nothing is gathered.
  double waited_share() const;
};

StepEstimate estimate_step(const hlo::Module& module, const Mesh& mesh, const Slice& slice);

}  // namespace tethys
