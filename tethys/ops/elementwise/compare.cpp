#include "ops/elementwise/compare.h"

#include "ops/elementwise/elementwise.h"

namespace tethys {

struct CompareAttributes {
  Comparison comparison;
  bool operator==(const CompareAttributes&) const = default;
};

static const char* direction(Comparison comparison) {
  static constexpr const char* kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  return kDirections[static_cast<size_t>(comparison)];
}

static std::string describe(const CompareAttributes& a) { return direction(a.comparison); }

namespace {

std::vector<TensorType> infer(const OpCall& call) { return {infer_elementwise(call)[0].with_dtype(DType::Bool)}; }

std::vector<stablehlo::Ssa> emit(EmitContext& c) {
  const auto& a = c.call.attributes.as<CompareAttributes>();
  return c.writer.op(
      "stablehlo.compare", c.operands, c.results,
      {{"comparison_direction", fmt::format("#stablehlo<comparison_direction {}>", direction(a.comparison))}});
}

std::vector<Sample> samples() {
  std::vector<Sample> samples = binary_samples(-1, 1);
  samples[0].attributes = CompareAttributes{Comparison::Less};
  return samples;
}

}  // namespace

const OpRecord compare_op = {
    .name = "compare",
    .infer = infer,
    .emit = emit,
    .factors = factors_nonlinear,
    .samples = samples,
};

Value compare(Value x, Value y, Comparison comparison) {
  return x.graph->append(compare_op, CompareAttributes{comparison}, {x, y})[0];
}

}  // namespace tethys
