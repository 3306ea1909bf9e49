#include "kernels/routed_experts/routed_experts.h"

#include "kernels/routed_experts/reference.h"
#include "ops/collective/part.h"
#include "ops/control/redistribute.h"
#include "ops/dot/dot.h"
#include "ops/samples.h"

namespace tethys {

std::string_view name_of(Dispatcher dispatcher) { return dispatcher == Dispatcher::Local ? "local" : "all_to_all"; }

Dispatcher dispatcher_named(std::string_view name) {
  for (const Dispatcher dispatcher : {Dispatcher::Local, Dispatcher::AllToAll}) {
    if (name == name_of(dispatcher)) return dispatcher;
  }
  internal_error("no dispatcher is called {}", name);
}

std::string describe(const RoutedExpertsAttributes& a) {
  return fmt::format("{}, weight gradient {}", name_of(a.dispatcher), name_of(a.weight_gradient));
}

namespace {

void check_operands(const OpCall& call) {
  const auto& o = call.operands;
  const TensorType &x = o[0], &ids = o[1], &w1 = o[3];
  require(x.rank() == 3 && w1.rank() == 3 && x.dims[2] == w1.dims[2] && x.dtype == w1.dtype && is_floating(x.dtype),
          "x {} and w1 {}: expected [B,S,D] and [E,F,D] of one floating dtype", to_string(x), to_string(w1));
  const TensorType w2{x.dtype, {w1.dims[0], w1.dims[2], w1.dims[1]}};
  require(o[4] == w1 && o[5] == w2, "w3 {} and w2 {}: expected {} and {}", to_string(o[4]), to_string(o[5]),
          to_string(w1), to_string(w2));
  require(ids.rank() == 3 && ids.dtype == DType::S32 && ids.dims[0] == x.dims[0] && ids.dims[1] == x.dims[1],
          "ids {}, expected s32[B,S,T] for x {}", to_string(ids), to_string(x));
  require(o[2].dims == ids.dims && is_floating(o[2].dtype), "weights {} for ids {}", to_string(o[2]), to_string(ids));
}

std::vector<TensorType> infer(const OpCall& call) {
  require(call.operands.size() == 6, "{} operands", call.operands.size());
  check_operands(call);
  return {call.operands[0]};
}

std::vector<TensorType> infer_backward(const OpCall& call) {
  const auto& o = call.operands;
  require(o.size() == 7, "{} operands", o.size());
  check_operands(call);
  require(o[6] == o[0], "cotangent {} for x {}", to_string(o[6]), to_string(o[0]));
  const DType dtype = call.attributes.as<RoutedExpertsAttributes>().weight_gradient;
  return {o[0], o[2], o[3].with_dtype(dtype), o[4].with_dtype(dtype), o[5].with_dtype(dtype)};
}

Cotangents vjp(const VjpContext& c) {
  Cotangents result(6);
  if (!c.cotangents[0]) return result;
  std::vector<Value> operands = c.operands;
  operands.push_back(*c.cotangents[0]);
  const std::vector<Value> gradients = kernel(routed_experts_backward_kernel, c.graph, c.call.attributes, operands);
  // Those of the experts stay sums over the devices, which the parameters they go to resolve.
  for (size_t operand : {0, 2}) result[operand] = redistribute_like(gradients[operand / 2], c.operands[operand]);
  for (size_t operand : {3, 4, 5}) result[operand] = gradients[operand - 1];
  return result;
}

// Tokens pass, and are summed into the gradients of the experts; F is summed into all but those. So is E, which the
// gradients of the experts have: along an axis that cuts both tokens and experts, tokens are made whole, or both stay
// cut and rows are exchanged.
Factors factors_of(const OpCall& call, bool backward) {
  constexpr int B = 0, S = 1, D = 2, T = 3, E = 4, F = 5;
  const Dims& ids = call.operands[1].dims;
  const Dims& w1 = call.operands[3].dims;
  const FactorKind tokens = backward ? FactorKind::Reduced : FactorKind::Pass;
  Factors f;
  const bool exchanges = call.attributes.as<RoutedExpertsAttributes>().dispatcher == Dispatcher::AllToAll;
  f.factors = {{.kind = tokens, .size = ids[0], .yields = true},
               {.kind = tokens, .size = ids[1], .yields = true},
               {.kind = FactorKind::Replicate, .size = w1[2]},
               {.kind = FactorKind::Replicate, .size = ids[2]},
               {.kind = FactorKind::Reduced, .size = w1[0], .exchanged = exchanges},
               {.kind = FactorKind::Reduced, .size = w1[1]}};
  const TensorFactors x = {{B}, {S}, {D}}, chosen = {{B}, {S}, {T}};
  const TensorFactors w13 = {{E}, {F}, {D}}, w2 = {{E}, {D}, {F}};
  f.operands = {x, chosen, chosen, w13, w13, w2};
  f.results = {x};
  if (!backward) return f;
  f.operands.push_back(x);
  f.results = {x, chosen, w13, w13, w2};
  return f;
}

// Where experts are cut.
std::optional<Dispatch> local_dispatch(const LocalContext& c) {
  const Layout &x = c.operand_layouts[0], &w1 = c.operand_layouts[3];
  const Dims axes = cutting_axes(w1.placement, 0, c.mesh);
  if (axes.empty()) return std::nullopt;
  Dims exchanged;
  for (const int64_t a : axes) {
    if (x.placement[a].is_shard()) exchanged.push_back(a);
  }
  return dispatch_to({&c.mesh, axes, exchanged}, c.operands[1], w1.type.dims[0]);
}

std::vector<Value> local(const LocalContext& c) {
  const std::optional<Dispatch> dispatch = local_dispatch(c);
  return dispatch ? experts_forward(*dispatch, c.operands) : std::vector<Value>{};
}

std::vector<Value> local_backward(const LocalContext& c) {
  const std::optional<Dispatch> dispatch = local_dispatch(c);
  return dispatch ? experts_backward(*dispatch, c.call.attributes, c.operands) : std::vector<Value>{};
}

// The first is shared by all tokens, the third by none.
std::vector<Sample> samples() {
  const std::vector<int32_t> ids = {0, 1, 1, 0, 3, 0, 0, 1, 0, 3, 1, 0, 0, 3, 3, 0};
  return {plain_sample(
      "an expert without tokens",
      {sample_tensor({4, 2, 4}, 1), HostTensor::of<int32_t>({4, 2, 2}, ids), sample_tensor({4, 2, 2}, 2, 0.1, 1),
       sample_tensor({4, 4, 4}, 3), sample_tensor({4, 4, 4}, 4), sample_tensor({4, 4, 4}, 5)},
      RoutedExpertsAttributes{Dispatcher::AllToAll, DType::F64})};
}

}  // namespace

const KernelRecord routed_experts_kernel = {
    .name = "routed_experts",
    .infer = infer,
    .reference = routed_experts_reference,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = [](const OpCall& call) { return factors_of(call, false); },
    .local = local,
    .samples = samples,
    .lowerings = {},
};

const KernelRecord routed_experts_backward_kernel = {
    .name = "routed_experts_backward",
    .infer = infer_backward,
    .reference = routed_experts_backward_reference,
    .gradient = Gradient::Missing,
    .factors = [](const OpCall& call) { return factors_of(call, true); },
    .local = local_backward,
    .lowerings = {},
};

Tensor routed_experts(const RoutedExpertsOperands& o, Dispatcher dispatcher) {
  const RoutedExpertsAttributes attributes{dispatcher, gradient_dtype(o.w1_EFD.value())};
  return kernel(routed_experts_kernel, o.x_BSD.graph(), attributes,
                {o.x_BSD.value(), o.ids_BST.value(), o.weights_BST.value(), o.w1_EFD.value(), o.w3_EFD.value(),
                 o.w2_EDF.value()})[0];
}

}  // namespace tethys
