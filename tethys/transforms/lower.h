// lower: the text of a program from a per-device graph.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "transforms/legalize.h"
#include "values/mesh.h"

namespace tethys {

// StableHLO text of a local graph. `aliases[i]` is the result that may reuse input i's buffer, or −1; empty: none.
std::string lower(const Graph& local, const Mesh& mesh, const std::vector<int64_t>& aliases = {},
                  stablehlo::Spmd spmd = stablehlo::Spmd::Partitions);

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
  std::vector<std::string> custom_calls;  // targets whose handlers must be registered
  std::vector<std::string> notes;         // what propagate made whole because it could not stay sharded
};

// The whole way from a recorded graph: dead nodes out, propagate, localise, legalize, lower.
Program make_program(const Graph& recorded, const Mesh& mesh, const Capabilities& capabilities,
                     const std::vector<int64_t>& aliases = {});

}  // namespace tethys
