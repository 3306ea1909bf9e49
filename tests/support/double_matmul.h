// double_matmul: x · wᵀ in float64 as a kernel with a plain FFI handler, and a linear layer that uses it. What tests
// put into a model to see a call of foreign code under scan, remat, sharding and differentiation.
#pragma once

#include "nn/linear.h"
#include "ops/kernel/kernel.h"
#include "runtime/program_cache.h"

namespace tethys::testing {

// x [M,K], w [N,K] → [M,N]
extern const KernelRecord double_matmul_kernel;

// What an Executor needs to run it.
Handler double_matmul_handler();
// How often the handler has run in this process.
int64_t double_matmul_runs();

// A Linear whose product is the kernel's.
struct DoubleMatmulLinearConfig : LinearConfig {
  using LinearConfig::LinearConfig;
  std::string_view type_name() const override { return "DoubleMatmulLinear"; }
  std::unique_ptr<Linear> build(std::string name) const override;
};

}  // namespace tethys::testing
