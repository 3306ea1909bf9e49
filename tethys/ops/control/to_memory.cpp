#include "ops/control/to_memory.h"

#include "ops/elementwise/elementwise.h"

namespace tethys {

struct ToMemoryAttributes {
  Memory memory = Memory::Device;
  bool operator==(const ToMemoryAttributes&) const = default;
};

static std::string describe(const ToMemoryAttributes& a) { return a.memory == Memory::Host ? "host" : "device"; }

namespace {

// As XLA's compilers that offload to the host know it: TPU's and GPU's.
std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const bool host = memory_of(c.call.attributes) == Memory::Host;
  return c.writer.op("stablehlo.custom_call", c.operands, c.results,
                     {{"call_target_name", "\"annotate_device_placement\""},
                      {"has_side_effect", "true"},
                      {"mhlo.frontend_attributes",
                       fmt::format("{{_xla_buffer_placement = \"{}\"}}", host ? "pinned_host" : "device")}});
}

std::vector<Sample> samples() {
  Sample host = plain_sample("host", {sample_tensor({4, 8}, 1)});
  host.attributes = ToMemoryAttributes{Memory::Host};
  return {host};
}

}  // namespace

const OpRecord to_memory_op = {
    .name = "to_memory",
    .infer = [](const OpCall& call) { return call.operands; },
    .emit = emit,
    .gradient = Gradient::Rule,
    .vjp = [](const VjpContext& c) { return c.cotangents; },
    .factors = factors_single,
    .samples = samples,
};

Memory memory_of(const Attributes& attributes) { return attributes.as<ToMemoryAttributes>().memory; }

Value to_memory(Value x, Memory memory) { return x.graph->append(to_memory_op, ToMemoryAttributes{memory}, {x})[0]; }

}  // namespace tethys
