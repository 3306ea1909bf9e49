#include "support/double_matmul.h"

#include <xla/ffi/api/ffi.h>

#include <atomic>

#include "ops/dot/dot.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tethys::testing {
namespace {

namespace ffi = xla::ffi;

std::atomic<int64_t> runs = 0;

ffi::Error matmul(ffi::Buffer<ffi::F64> x, ffi::Buffer<ffi::F64> w, ffi::ResultBuffer<ffi::F64> out) {
  ++runs;
  const int64_t m = x.dimensions()[0], k = x.dimensions()[1], n = w.dimensions()[0];
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += x.typed_data()[i * k + l] * w.typed_data()[j * k + l];
      out->typed_data()[i * n + j] = sum;
    }
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER(
    handler, matmul,
    ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F64>>().Arg<ffi::Buffer<ffi::F64>>().Ret<ffi::Buffer<ffi::F64>>());

Value product(const Value& x, const Value& w) { return kernel(double_matmul_kernel, *x.graph, {}, {x, w})[0]; }

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.operands.at(0);
  const TensorType& w = call.operands.at(1);
  require(x.rank() == 2 && w.rank() == 2 && x.dims[1] == w.dims[1], "{} times {}", to_string(x), to_string(w));
  return {{x.dtype, {x.dims[0], w.dims[0]}}};
}

std::vector<Value> reference(Graph&, const Attributes&, const std::vector<Value>& o) {
  return {dot(o[0], o[1], {{}, {}, {1}, {1}})};
}

Cotangents vjp(const VjpContext& c) {
  const Value g = *c.cotangents[0];
  const Value x = c.operands[0];
  const Value w = c.operands[1];
  return {product(g, transpose(w, {1, 0})), product(transpose(g, {1, 0}), transpose(x, {1, 0}))};
}

Factors factors(const OpCall& call) {
  const Dims& x = call.operands[0].dims;
  Factors f;
  f.factors = {{FactorKind::Pass, x[0], Reduction::Sum},
               {FactorKind::Reduced, x[1], Reduction::Sum},
               {FactorKind::Pass, call.operands[1].dims[0], Reduction::Sum}};
  f.operands = {{{0}, {1}}, {{2}, {1}}};
  f.results = {{{0}, {2}}};
  f.linear = Linearity::Single;
  return f;
}

std::vector<Sample> samples() {
  return {plain_sample("product", {sample_tensor({4, 8}, 1), sample_tensor({12, 8}, 2)})};
}

class DoubleMatmulLinear : public Linear {
 public:
  using Linear::Linear;

  Tensor forward(const Tensor& input) override {
    const Scope scope = enter(input.graph());
    const Tensor x = entering(input);
    const Tensor w = weight().in(x.graph());
    Dims dims = x.dims();
    const Tensor rows = reshape(x, {-1, dims.back()});
    dims.back() = w.size(0);
    return leaving(reshape(Tensor(product(rows.value(), w.value())), dims));
  }
};

}  // namespace

const KernelRecord double_matmul_kernel = {
    .name = "double_matmul",
    .infer = infer,
    .reference = reference,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
    .lowerings = {{.platform = "cpu",
                   .target = "tethys_test_double_matmul",
                   .handler = reinterpret_cast<void*>(+handler),
                   .version = "1"}},
};

Handler double_matmul_handler() {
  const KernelLowering& lowering = double_matmul_kernel.lowerings[0];
  return {lowering.target, lowering.handler, lowering.version};
}

int64_t double_matmul_runs() { return runs; }

std::unique_ptr<Linear> DoubleMatmulLinearConfig::build(std::string name) const {
  return std::make_unique<DoubleMatmulLinear>(*this, std::move(name));
}

}  // namespace tethys::testing
