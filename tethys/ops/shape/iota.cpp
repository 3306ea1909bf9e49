#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/generator.h"
#include "ops/shape/splat.h"

namespace tethys {

struct IotaAttributes {
  int64_t dim;
  bool operator==(const IotaAttributes&) const = default;
};
static std::string describe(const IotaAttributes& a) { return fmt::format("dim {}", a.dim); }

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  std::vector<TensorType> result = infer_generator(call);
  const int64_t dim = call.attributes.as<IotaAttributes>().dim;
  require(dim >= 0 && dim < result[0].rank(), "no dimension {} in {}", dim, to_string(result[0]));
  return result;
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const int64_t dim = c.call.attributes.as<IotaAttributes>().dim;
  return c.writer.op("stablehlo.iota", {}, c.results, {{"iota_dimension", stablehlo::i64_attribute(dim)}});
}

std::vector<Sample> samples() { return {plain_sample("columns", {}, IotaAttributes{1}, {{DType::S32, {4, 8}}})}; }

}  // namespace

const OpRecord iota_op = {
    .name = "iota",
    .infer = infer,
    .emit = emit,
    .factors = factors_generator,
    .samples = samples,
    .recompute = true,
    .generator = true,
};

Value iota(Graph& graph, TensorType type, int64_t dim) {
  return graph.append(iota_op, IotaAttributes{dim}, {}, {}, {std::move(type)})[0];
}

int64_t iota_dim(const Attributes& attributes) { return attributes.as<IotaAttributes>().dim; }

}  // namespace tethys
