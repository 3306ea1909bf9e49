// Degrees: how many devices each kind of parallelism takes, the mesh that follows, and how a step's rows are cut. All
// that a user can get wrong about them is found here, before anything is built.
//
//   Degrees degrees = degrees_of(config, 8);       // {.replicate = 2, .shard = 4}
//   Mesh mesh = mesh_of(degrees);                   // dp_replicate=2,dp_shard=4
//   StepRows rows = step_rows_of(config, degrees);  // {.accumulation = 2, .rows = 64}
#pragma once

#include <cstdint>
#include <optional>

#include "nn/plan.h"
#include "values/mesh.h"

namespace tethys {

class Config;

struct Degrees {
  int64_t replicate = 1;
  int64_t shard = 1;
  int64_t context = 1;
  int64_t tensor = 1;
  int64_t expert = 1;  // of the devices of the three above
  bool operator==(const Degrees&) const = default;
  int64_t data() const { return replicate * shard; }  // ranks that read different rows
  int64_t devices() const { return data() * context * tensor; }
};

// The rows of one step: `accumulation` microbatches of `rows` each, over all ranks.
struct StepRows {
  int64_t accumulation = 1;
  int64_t rows = 1;
  bool operator==(const StepRows&) const = default;
};

// `devices` is how many there are to use; nothing where there are as many as asked for, and dp_shard, where it is left
// open, is as small as the experts let it. UserError, which names the option, the sizes and values that would work, if
// the degrees do not fit the devices or the model.
Degrees degrees_of(const Config& config, std::optional<int64_t> devices);

// The axes dp_replicate, dp_shard, cp and tp, those of size 1 left out. Experts are cut over cp, then dp_shard, then
// tp, as far as their degree goes: what of an axis they take is one of its own.
Mesh mesh_of(const Degrees& degrees);

// What of a mesh a model's plan depends on.
PlanOptions plan_options_of(const Config& config, const Mesh& mesh);

// UserError if training.global_batch_size is no multiple of a microbatch.
StepRows step_rows_of(const Config& config, const Degrees& degrees);

}  // namespace tethys
