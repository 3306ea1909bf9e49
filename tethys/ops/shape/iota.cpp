#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/splat.h"

namespace tethys {

struct IotaAttributes {
  int64_t dim;
  bool operator==(const IotaAttributes&) const = default;
};
static std::string describe(const IotaAttributes& a) { return fmt::format("dim {}", a.dim); }

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const int64_t dim = call.attributes.as<IotaAttributes>().dim;
  require(call.operands.empty() && call.declared.size() == 1, "an iota has no operands and one declared type");
  require(dim >= 0 && dim < call.declared[0].rank(), "no dimension {} in {}", dim, to_string(call.declared[0]));
  return call.declared;
}

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const int64_t dim = c.call.attributes.as<IotaAttributes>().dim;
  return c.writer.op("stablehlo.iota", {}, c.results, {{"iota_dimension", stablehlo::i64_attribute(dim)}});
}

Factors factors(const OpCall& call) { return elementwise_factors(call.declared[0].dims, 0, Linearity::No); }

std::vector<Sample> samples() {
  return {{.name = "columns",
           .operands = {},
           .attributes = IotaAttributes{1},
           .declared = {{DType::S32, {4, 8}}},
           .regions = {}}};
}

}  // namespace

const OpRecord iota_op = {
    .name = "iota",
    .infer = infer,
    .emit = emit,
    .factors = factors,
    .samples = samples,
    .recompute = true,
    .generator = true,
};

Value iota(Graph& graph, TensorType type, int64_t dim) {
  return graph.append(iota_op, IotaAttributes{dim}, {}, {}, {std::move(type)})[0];
}

int64_t iota_dim(const Attributes& attributes) { return attributes.as<IotaAttributes>().dim; }

}  // namespace tethys
