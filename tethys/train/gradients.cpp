#include "train/gradients.h"

#include <fmt/ranges.h>

#include <set>

#include "base/nearest.h"
#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/control/redistribute.h"
#include "ops/control/scan.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// 1 / the number of labels that count; of a batch without any, 1, so that its loss is 0.
Tensor inverse_count(Value labels_ABS, DType dtype) {
  const Tensor count = sum(cast(not_equal(Tensor(labels_ABS), kIgnoredLabel), DType::S32));
  return 1 / maximum(cast(count, dtype), full_like(cast(count, dtype), 1));
}

DType loss_dtype_of(const std::vector<StoredParameter>& store) {
  return wide(store[0].key()->parametrization().compute_dtype);
}

// The names that activations have in a graph and in its regions.
std::set<std::string> tags_of(const Graph& graph) {
  std::set<std::string> tags;
  std::vector<const Graph*> left{&graph};
  while (!left.empty()) {
    const Graph& next = *left.back();
    left.pop_back();
    for (ValueId v = 0; v < next.value_count(); ++v) tags.insert(next.info(v).tag);
    for (NodeId n = 0; n < next.node_count(); ++n) {
      for (const auto& region : next.node(n).regions) left.push_back(region.get());
    }
  }
  tags.erase("");
  return tags;
}

void check_names(const Graph& forward, const RematPolicy& remat) {
  if (remat.names.empty() && remat.offload.empty()) return;
  const std::set<std::string> tags = tags_of(forward);
  const auto check = [&](std::string_view option, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (tags.contains(name)) continue;
      user_error("{}: no activation of the model is named \"{}\"; the nearest is {}, and there are {}", option, name,
                 nearest_name(name, {tags.begin(), tags.end()}), fmt::join(tags, ", "));
    }
  };
  check("graph.remat_save", remat.names);
  check("graph.remat_offload", remat.offload);
}

struct Microbatch {
  TokenRows rows;
  Tensor labels_BS;
};

// What is added up for a stored parameter; nothing where it has no part in the loss.
std::optional<Value> share_of(const StoredParameter& stored, Graph& graph, const std::optional<Value>& gradient) {
  return stored.trained() ? gradient : stored.key()->left_in(graph);
}

// One microbatch's share of the loss and of the gradients, added to what there is. `backward` is told where it begins.
LossAndGradients accumulate(LanguageModel& model, const std::vector<StoredParameter>& store,
                            const std::vector<Value>& parameters, const Microbatch& batch, const Tensor& inverse,
                            const LossAndGradients& before, const RematPolicy& remat, NodeId* backward = nullptr) {
  bind_store(*parameters[0].graph, store, parameters);
  const Tensor loss = model.loss_sum(batch.rows, batch.labels_BS) * inverse;
  const Tensor total = Tensor(before.loss) + loss;
  check_names(loss.graph(), remat);
  if (backward != nullptr) *backward = loss.graph().node_count();
  const std::vector<std::optional<Value>> found = gradients(loss.value(), parameters, remat);
  LossAndGradients after{total.value(), {}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor sum = before.gradients[i];
    const std::optional<Value> share = share_of(store[i], loss.graph(), found[i]);
    if (!share) {
      after.gradients.push_back(sum.value());
      continue;
    }
    const bool unreduced = store[i].key()->parametrization().unreduced;
    const Tensor gradient = unreduced ? *share : redistribute_like(*share, parameters[i]);
    after.gradients.push_back((sum + cast(gradient, sum.dtype())).value());
  }
  return after;
}

LossAndGradients zeros(Graph& graph, const std::vector<StoredParameter>& store, DType loss_dtype) {
  LossAndGradients result{splat(graph, {loss_dtype, {}}, 0), {}};
  for (const StoredParameter& stored : store) {
    const DType dtype = stored.trained() ? wide(stored.key()->parametrization().gradient_dtype) : DType::S32;
    result.gradients.push_back(splat(graph, stored.type.with_dtype(dtype), 0));
  }
  return result;
}

// A, the microbatches, is 1.
Tensor only_row(Value x_ABS) { return reshape(x_ABS, {x_ABS.dims()[1], x_ABS.dims()[2]}); }

}  // namespace

LossAndGradients record_gradients(LanguageModel& model, const std::vector<StoredParameter>& store,
                                  const StepInputs& inputs, const RematPolicy& remat) {
  Graph& graph = *inputs.tokens_ABS.graph;
  const DType loss_dtype = loss_dtype_of(store);
  const Tensor inverse = inverse_count(inputs.labels_ABS, loss_dtype);
  const LossAndGradients none = zeros(graph, store, loss_dtype);
  const std::vector<Value> rows = {inputs.tokens_ABS, inputs.positions_ABS, inputs.segments_ABS, inputs.labels_ABS};
  const int64_t count = inputs.tokens_ABS.dims()[0];
  if (count == 1) {
    const Microbatch batch{{only_row(rows[0]), only_row(rows[1]), only_row(rows[2])}, only_row(rows[3])};
    return accumulate(model, store, inputs.state.parameters, batch, inverse, none, remat);
  }
  ScanOperands operands{inputs.state.parameters, none.gradients, rows};
  operands.consts.push_back(inverse.value());
  operands.carries.push_back(none.loss);
  const auto body = [&](Graph&, const ScanOperands& in) {
    const std::vector<Value> parameters(in.consts.begin(), in.consts.end() - 1);
    const LossAndGradients before{in.carries.back(), {in.carries.begin(), in.carries.end() - 1}};
    const Microbatch batch{{in.xs[0], in.xs[1], in.xs[2]}, in.xs[3]};
    LossAndGradients after = accumulate(model, store, parameters, batch, in.consts.back(), before, remat);
    after.gradients.push_back(after.loss);
    return ScanResults{after.gradients, {}};
  };
  std::vector<Value> sums = scan(graph, count, operands, body).carries;
  const Value loss = sums.back();
  sums.pop_back();
  return {loss, sums};
}

Value record_inverse_count(Value labels_ABS, const std::vector<StoredParameter>& store) {
  return inverse_count(labels_ABS, loss_dtype_of(store)).value();
}

RecordedMicrobatch record_microbatch(LanguageModel& model, const std::vector<StoredParameter>& store,
                                     const StepInputs& inputs, Value inverse, const RematPolicy& remat) {
  Graph& graph = *inputs.tokens_ABS.graph;
  RecordedMicrobatch recorded{zeros(graph, store, loss_dtype_of(store)), 0};
  const Microbatch batch{{only_row(inputs.tokens_ABS), only_row(inputs.positions_ABS), only_row(inputs.segments_ABS)},
                         only_row(inputs.labels_ABS)};
  recorded.sums =
      accumulate(model, store, inputs.state.parameters, batch, inverse, recorded.sums, remat, &recorded.backward);
  return recorded;
}

std::vector<Value> reduced(const std::vector<Value>& gradients, const std::vector<StoredParameter>& store,
                           const std::vector<Value>& parameters) {
  std::vector<Value> result = gradients;
  for (size_t i = 0; i < store.size(); ++i) {
    const Parametrization& p = store[i].key()->parametrization();
    if (!p.unreduced) continue;
    const Tensor sum = gradients[i];
    const Scope scope(sum.graph(), store[i].name);
    const Tensor travelling = store[i].trained() ? cast(sum, p.gradient_dtype) : sum;
    result[i] = cast(redistribute_like(travelling.value(), parameters[i]), sum.dtype()).value();
  }
  return result;
}

}  // namespace tethys
