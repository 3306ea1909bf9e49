#include "ops/shape/splat.h"

#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/generator.h"

namespace tethys {

struct SplatAttributes {
  double value;
  bool operator==(const SplatAttributes&) const = default;
};
static std::string describe(const SplatAttributes& a) { return fmt::format("{}", a.value); }

namespace {

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  return {c.writer.splat(c.results[0], c.call.attributes.as<SplatAttributes>().value)};
}

std::vector<Sample> samples() { return {plain_sample("matrix", {}, SplatAttributes{1.5}, {{DType::F64, {4, 8}}})}; }

}  // namespace

const OpRecord splat_op = {
    .name = "splat",
    .infer = infer_generator,
    .emit = emit,
    .factors = factors_generator,
    .samples = samples,
    .recompute = true,
    .generator = true,
};

Value splat(Graph& graph, TensorType type, double value) {
  return graph.append(splat_op, SplatAttributes{value}, {}, {}, {std::move(type)})[0];
}

double splat_value(const Attributes& attributes) { return attributes.as<SplatAttributes>().value; }

bool is_zero_splat(const Graph& graph, ValueId value) {
  const Node& node = graph.producer(value);
  return node.op == &splat_op && splat_value(node.attributes) == 0;
}

}  // namespace tethys
