// What a training run keeps of a model's parameters: one array per parameter, or one [L, …] for each parameter of L
// equal blocks, with its padding and its placement on the mesh. Logical parameters keep their names either way.
//
//   std::vector<StoredParameter> store = make_store(*model, llama_plan({}), options);
//   std::vector<Value> values;
//   for (const StoredParameter& p : store) values.push_back(graph.input(p.type, p.name, p.placement));
//   bind_store(graph, store, values);
//
// Data and context parallelism shard a parameter along its first dimension that the plan leaves whole and that is no
// shorter than their ranks are many (of a stack: after L), so that what is gathered is mostly one contiguous piece.
#pragma once

#include <string>
#include <vector>

#include "nn/language_model.h"
#include "nn/plan.h"

namespace tethys {

struct StoredParameter {
  std::string name;                       // the parameter's, or that of a stack: "layers.*.attention.wq.weight"
  std::vector<const Parameter*> members;  // one, or one per layer
  bool stacked = false;
  TensorType type;  // padded, and with L in front where stacked
  Placement placement;

  // What a graph binds the stored value to.
  const Parameter* key() const { return members[0]; }
  bool trained() const { return key()->trained(); }
};

struct StoreOptions {
  Mesh mesh;
  bool stack_layers = false;
  DType storage_dtype = DType::F32;
  DType compute_dtype = DType::F32;
  DType gradient_dtype = DType::F32;
  // Gathered weights are gathered again in the backward; otherwise they are kept.
  bool reshard_after_forward = true;
  // Gradients are left for the step to reduce (Parametrization::unreduced).
  bool unreduced_gradients = false;
};

// Gives every parameter its parametrization and every module its constraints, and lists what is stored in the model's
// order. UserError if a dimension that the plan shards does not divide.
std::vector<StoredParameter> make_store(LanguageModel& model, const Plan& plan, const StoreOptions& options);

// Lets values stand for all that is stored, in the store's order.
void bind_store(Graph& graph, const std::vector<StoredParameter>& store, const std::vector<Value>& values);

// A line per stored parameter: name, type, placement.
std::string to_string(const std::vector<StoredParameter>& store);

}  // namespace tethys
