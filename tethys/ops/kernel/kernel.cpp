#include "ops/kernel/kernel.h"

#include "ops/registry.h"
#include "ops/samples.h"

namespace tethys {

struct KernelNode {
  const KernelRecord* record;
  Attributes attributes;
  bool operator==(const KernelNode&) const = default;
};
static std::string describe(const KernelNode& a) {
  const std::string own = a.attributes.to_string();
  return own.empty() ? a.record->name : fmt::format("{} {}", a.record->name, own);
}

const KernelRecord& kernel_record(const Attributes& a) { return *a.as<KernelNode>().record; }
const Attributes& kernel_attributes(const Attributes& a) { return a.as<KernelNode>().attributes; }

OpCall kernel_call(const OpCall& call) {
  return {call.op, kernel_attributes(call.attributes), call.operands, call.regions, call.declared};
}

namespace {

// What the record's kind of gradient means for an op, for the kernel.
Cotangents vjp(const VjpContext& c) {
  const KernelRecord& record = kernel_record(c.call.attributes);
  require(record.gradient != Gradient::Missing, "{} has no gradient and is asked for one", record.name);
  if (record.gradient == Gradient::None) return Cotangents(c.operands.size());
  const OpCall call = kernel_call(c.call);
  return record.vjp({c.graph, call, c.operands, c.results, c.cotangents, c.wanted});
}

std::vector<Value> local(const LocalContext& c) {
  const KernelRecord& record = kernel_record(c.call.attributes);
  if (record.local == nullptr) return {};
  return record.local({c.graph, kernel_call(c.call), c.operands, c.operand_layouts, c.result_layouts, c.mesh});
}

}  // namespace

const OpRecord kernel_op = {
    .name = "kernel",
    .infer = [](const OpCall& call) { return kernel_record(call.attributes).infer(kernel_call(call)); },
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = [](const OpCall& call) { return kernel_record(call.attributes).factors(kernel_call(call)); },
    .local = local,
};

std::vector<Value> kernel(const KernelRecord& record, Graph& graph, Attributes attributes,
                          const std::vector<Value>& operands) {
  return graph.append(kernel_op, KernelNode{&record, std::move(attributes)}, operands);
}

}  // namespace tethys
