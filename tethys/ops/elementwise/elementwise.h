// What the element-wise records share: inference, emission and sharding that follow from "same shape in, same shape
// out".
#pragma once

#include "ir/graph.h"
#include "ops/registry.h"
#include "ops/samples.h"

namespace tethys {

// All operands have one type and so has the result.
std::vector<TensorType> infer_elementwise(const OpCall& call);
// The same, for floating dtypes only, for integers (and bool) only, and with a bool result.
std::vector<TensorType> infer_floating(const OpCall& call);
std::vector<TensorType> infer_bits(const OpCall& call);
std::vector<TensorType> infer_predicate(const OpCall& call);

// One StableHLO op, OpRecord::stablehlo, with the node's operands and results and no attributes.
std::vector<stablehlo::Ssa> emit_plain(EmitContext& context);

// Sharded alike in all dimensions; Partial is resolved, passes jointly, passes through any one operand.
Factors factors_nonlinear(const OpCall& call);
Factors factors_joint(const OpCall& call);
Factors factors_single(const OpCall& call);

// A number of the shape and dtype of `like`.
Value splat_like(Value like, double value);

// The gradient of an op that returns one of its two operands: it goes to the first where `first` holds.
Cotangents cotangents_of_choice(const VjpContext& context, Value first);

// Samples for unary and binary ops with values in [low, high).
std::vector<Sample> unary_samples(double low, double high, DType dtype = DType::F64);
std::vector<Sample> binary_samples(double low, double high, DType dtype = DType::F64);

}  // namespace tethys
