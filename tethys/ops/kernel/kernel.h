// kernel: an op that carries its meaning as a composition of ordinary ops, its reference, and may have a faster
// lowering on a platform. transforms/legalize decides: it puts a call to the lowering, or the reference, in the
// kernel's place.
//
// The record is what OpRecord is for an op. Its rules see the kernel's own attributes.
#pragma once

#include <compare>

#include "ir/graph.h"

namespace tethys {

// One platform's implementation, called through XLA's foreign function interface.
struct KernelLowering {
  const char* platform = "";  // PJRT's platform name: "cpu", "tpu", "cuda"
  const char* target = "";    // the custom call's target
  void* handler = nullptr;    // XLA_FFI_Handler*, registered under `target` before a program is compiled
  // Changes whenever a program that was compiled with the handler must not meet it any more. It is part of the key of
  // compiled programs.
  const char* version = "";
  // Whether it takes these shapes and dtypes; null: always.
  bool (*supports)(const OpCall& call) = nullptr;
  // The entries of backend_config; null: none.
  std::vector<stablehlo::Attribute> (*backend_config)(const OpCall& call) = nullptr;
};

struct KernelRecord {
  const char* name = "";
  std::vector<TensorType> (*infer)(const OpCall& call) = nullptr;
  // Records the composition for operands of any local shape; returns the results.
  std::vector<Value> (*reference)(Graph& graph, const Attributes& attributes,
                                  const std::vector<Value>& operands) = nullptr;
  Gradient gradient = Gradient::None;
  Cotangents (*vjp)(const VjpContext& context) = nullptr;
  Factors (*factors)(const OpCall& call) = nullptr;
  std::vector<Value> (*local)(const LocalContext& context) = nullptr;
  std::vector<Sample> (*samples)() = nullptr;
  std::vector<KernelLowering> lowerings;
};

// `record` must outlive every graph: it is a global.
std::vector<Value> kernel(const KernelRecord& record, Graph& graph, Attributes attributes,
                          const std::vector<Value>& operands);

// Of a kernel node.
const KernelRecord& kernel_record(const Attributes& attributes);
const Attributes& kernel_attributes(const Attributes& attributes);
// The node's call with the kernel's own attributes, as the record's rules take it.
OpCall kernel_call(const OpCall& call);

// Foreign code as a program calls it.
struct Callee {
  std::string target;
  std::string version;
  auto operator<=>(const Callee&) const = default;
};

// A call of foreign code: what a kernel becomes where it has a lowering.
std::vector<Value> custom_call(Graph& graph, Callee callee, std::string backend_config,
                               const std::vector<Value>& operands, std::vector<TensorType> results);
// Of a custom_call node.
const Callee& custom_call_callee(const Attributes& attributes);

}  // namespace tethys
