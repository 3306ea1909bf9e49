// OpRecord: everything Tethys knows about one op, in one place. What other code asks about an op is a field here, so
// that adding an op touches its own file and one line of ops/op_list.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "ir/factors.h"
#include "stablehlo/writer.h"
#include "values/host_tensor.h"
#include "values/mesh.h"

namespace tethys {

class Graph;
struct OpRecord;
struct Value;

using Regions = std::vector<std::shared_ptr<Graph>>;

// One application of an op, as its rules see it.
struct OpCall {
  const OpRecord& op;
  const Attributes& attributes;
  std::vector<TensorType> operands;
  const Regions& regions;
  // The result types that the caller asks for. Ops whose result shape does not follow from their operands (splat, iota,
  // broadcast, reshape, …) take it from here, so that sizes live only in types; others ignore it.
  std::vector<TensorType> declared;
};

struct EmitContext {
  stablehlo::Writer& writer;
  const OpCall& call;
  std::vector<stablehlo::Ssa> operands;
  std::vector<TensorType> results;
  const Mesh& mesh;
  stablehlo::Spmd spmd;
  // Writes a region's nodes into `writer`, given its inputs; returns its outputs.
  std::function<std::vector<stablehlo::Ssa>(stablehlo::Writer& writer, const Graph& region,
                                            const std::vector<stablehlo::Ssa>& inputs)>
      emit_region;
};

// Reverse mode: the values of a node and the cotangents of its results. An absent cotangent is zero.
struct VjpContext {
  Graph& graph;
  const OpCall& call;
  std::vector<Value> operands;
  std::vector<Value> results;
  std::vector<std::optional<Value>> cotangents;
  // Which operands lead to something that is differentiated; a rule may skip the others.
  std::vector<bool> wanted;
};
// The cotangent of each operand; absent where there is none or none is wanted.
using Cotangents = std::vector<std::optional<Value>>;

// One application of an op in the program of one device.
struct LocalContext {
  Graph& graph;
  const OpCall& call;           // with global types
  std::vector<Value> operands;  // this device's parts
  std::vector<Layout> operand_layouts;
  std::vector<Layout> result_layouts;
  const Mesh& mesh;
};

// Inputs for the checks that every op gets by itself: small, in float64 where the op computes.
struct Sample {
  std::string name;
  std::vector<HostTensor> operands;
  Attributes attributes;
  std::vector<TensorType> declared;
  // Scan, while and their kin: makes the regions for the given operand types.
  std::function<Regions(const std::vector<TensorType>&)> regions;
};

enum class Gradient {
  Rule,     // `vjp` is the rule
  None,     // the results do not depend smoothly on the operands: the gradient stops here
  Region,   // the gradient is that of the regions, made by transforms/grad
  Missing,  // there is one and nobody has written it: asking for it is an error, where None would give zeros
};

// What an op does with its regions; passes that walk into regions go by this.
enum class Structure {
  Plain,  // no regions, or regions that passes leave alone
  Loop,   // scan: ops/control/scan.h
  Call,   // the region is inlined once: ops/control/checkpoint.h
};

struct OpRecord {
  const char* name = "";
  // The StableHLO op of the same meaning, for records whose emit is emit_plain.
  const char* stablehlo = "";
  std::vector<TensorType> (*infer)(const OpCall&) = nullptr;
  std::vector<stablehlo::Ssa> (*emit)(EmitContext&) = nullptr;
  Gradient gradient = Gradient::None;
  Cotangents (*vjp)(const VjpContext&) = nullptr;
  // The sharding rule; null for the ops that only exist in a per-device program (collectives, axis_index).
  Factors (*factors)(const OpCall&) = nullptr;
  // For ops that, where some factor is sharded, are more on one device than the op on its parts: records that,
  // collectives included, and returns this device's parts of the results; nothing where the op on its parts is it.
  // Null: always.
  std::vector<Value> (*local)(const LocalContext&) = nullptr;
  std::vector<Sample> (*samples)() = nullptr;
  // Cheap to compute again and as large as what it reads: never a residual (broadcast, convert, iota, splat).
  bool recompute = false;
  // Makes a value from nothing and in any placement (splat, iota): has no placement of its own.
  bool generator = false;
  // Waits for other devices.
  bool collective = false;
  Structure structure = Structure::Plain;
};

}  // namespace tethys
