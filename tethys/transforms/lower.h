// lower: the text of a program from a per-device graph.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/kernel/kernel.h"
#include "transforms/collectives.h"
#include "transforms/legalize.h"
#include "values/mesh.h"

namespace tethys {

// Whether a program's text says which module recorded each op. A compiler's result can then be read by module; the
// program is the same, but its text, which programs are cached by, is not.
enum class Locations : uint8_t { None, Modules };

// StableHLO text of a local graph. `aliases[i]` is the result that may reuse input i's buffer, or −1; empty: none.
std::string lower(const Graph& local, const Mesh& mesh, const std::vector<int64_t>& aliases = {},
                  stablehlo::Spmd spmd = stablehlo::Spmd::Partitions, Locations locations = Locations::None);

// What a program takes or gives: global type and placement.
struct Port {
  std::string name;
  TensorType type;
  Placement placement;
};

// A program ready for a compiler: everything that running it needs, without a client.
struct Program {
  std::string text;
  Mesh mesh;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<int64_t> aliases;
  std::vector<Callee> callees;  // whose handlers must be registered; each once, in order
  std::vector<CollectiveUse> collectives;
  std::vector<std::string> notes;  // what propagate made whole because it could not stay sharded
  // What it waits for besides its own device, as written in the text: "all_gather ×12, reduce_scatter ×6; handlers
  // matmul ×3"; "" for nothing. For the message about a device that is stuck.
  std::string waits;
};

// How a program gathers what is sharded; neither changes a number.
struct GatherOptions {
  bool by_block = false;  // transforms/combine_gathers.h
  bool ahead = false;     // transforms/rotate.h
};

// A recorded graph on its way to one device.
struct Localised {
  std::shared_ptr<Graph> placed;  // global types
  std::shared_ptr<Graph> local;   // one device's
  std::vector<std::string> notes;
};

// The first half: dead nodes out, propagate, localise, and gathers arranged.
Localised localised(const Graph& recorded, const Mesh& mesh, const GatherOptions& gathers = {});
// The second: legalize and lower.
Program make_program(const Localised& graphs, const Mesh& mesh, const Capabilities& capabilities,
                     const std::vector<int64_t>& aliases = {}, Locations locations = Locations::None);
// The whole way.
Program make_program(const Graph& recorded, const Mesh& mesh, const Capabilities& capabilities,
                     const std::vector<int64_t>& aliases = {}, const GatherOptions& gathers = {});

}  // namespace tethys
