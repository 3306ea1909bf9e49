#include "train/step.h"

#include <algorithm>
#include <numeric>

#include "ops/control/barrier.h"
#include "ops/control/redistribute.h"
#include "ops/shape/splat.h"
#include "optim/clip.h"
#include "train/balance.h"
#include "train/gradients.h"

namespace tethys {
namespace {

// Settings of the logical parameters that a stored one holds: a number, or one per layer that broadcasts.
Tensor per_member(Graph& graph, const StoredParameter& stored, DType dtype, const std::vector<double>& numbers) {
  const bool same = std::all_of(numbers.begin(), numbers.end(), [&](double n) { return n == numbers[0]; });
  if (same) return splat(graph, {dtype, {}}, numbers[0]);
  Dims dims(stored.type.dims.size(), 1);
  dims[0] = static_cast<int64_t>(numbers.size());
  return constant(graph, HostTensor::from_doubles({dtype, dims}, numbers));
}

// The gradients with those of one placement next to each other, so that their squares are summed before they travel;
// those that more axes shard come first, or each of their sums would be reduced to join a total that is whole there.
std::vector<Tensor> by_placement(const std::vector<StoredParameter>& store, const std::vector<Value>& gradients) {
  std::vector<size_t> order(store.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return to_string(store[a].placement) > to_string(store[b].placement); });
  std::vector<Tensor> sorted;
  for (size_t i : order) {
    if (store[i].trained()) sorted.emplace_back(gradients[i]);
  }
  return sorted;
}

// The next state where all is well, else the old one; every value back where it is stored.
class Update {
 public:
  Update(const std::vector<StoredParameter>& store, const StepInputs& inputs, const StepOptions& options,
         const Tensor& ok)
      : store_(store),
        inputs_(inputs),
        options_(options),
        ok_(ok),
        step_(adamw_step(options.adamw, inputs.step, inputs.learning_rate)) {
    next_.ok = redistribute(ok.value(), replicated(options.mesh));
  }

  // `settings` are those of its members.
  void add(size_t i, const Tensor& gradient, std::span<const GroupSettings> settings) {
    const StateValues& before = inputs_.state;
    const DType dtype = inputs_.learning_rate.dtype();
    std::vector<double> scales, decays;
    for (const GroupSettings& s : settings) {
      scales.push_back(s.lr_scale);
      decays.push_back(s.weight_decay);
    }
    Graph& graph = gradient.graph();
    const Scope scope(graph, store_[i].name);
    const Moments moments = adamw_moments(options_.adamw, {before.m[i], before.v[i]}, gradient);
    // The parameter reads the new moments where they are stored, in the donated memory. Without the barrier a compiler
    // computes them a second time for it, from copies of the old ones that live through the whole step.
    const Value new_moments[] = {kept(i, moments.m, before.m[i]), kept(i, moments.v, before.v[i])};
    const std::vector<Value> stored = optimization_barrier(new_moments);
    const Tensor parameter =
        adamw_parameter(options_.adamw, step_, before.parameters[i], {stored[0], stored[1]},
                        per_member(graph, store_[i], dtype, scales), per_member(graph, store_[i], dtype, decays));
    next_.parameters.push_back(kept(i, parameter, before.parameters[i]));
    next_.m.push_back(stored[0]);
    next_.v.push_back(stored[1]);
  }

  // By its own rule, from what the batch says; it has no moments to speak of.
  void add_untrained(size_t i, const Tensor& statistic) {
    const StateValues& before = inputs_.state;
    const Scope scope(statistic.graph(), store_[i].name);
    next_.parameters.push_back(
        kept(i, balanced(before.parameters[i], statistic, options_.expert_balance), before.parameters[i]));
    next_.m.push_back(before.m[i]);
    next_.v.push_back(before.v[i]);
  }

  StateValues result() { return std::move(next_); }

 private:
  Value kept(size_t i, const Tensor& after, Value before) const {
    return redistribute(where(ok_, after, before).value(), store_[i].placement);
  }

  const std::vector<StoredParameter>& store_;
  const StepInputs& inputs_;
  const StepOptions& options_;
  Tensor ok_;
  AdamWStep step_;
  StateValues next_;
};

// The settings of each logical parameter in the order of the store's members.
std::vector<GroupSettings> settings_of(const std::vector<StoredParameter>& store, LanguageModel& model,
                                       const std::vector<GroupSettings>& groups) {
  const std::vector<Parameter*> parameters = model.parameters();
  require(groups.empty() || groups.size() == parameters.size(), "{} group settings for {} parameters", groups.size(),
          parameters.size());
  std::vector<GroupSettings> result;
  for (const StoredParameter& stored : store) {
    for (const Parameter* member : stored.members) {
      const auto index = std::find(parameters.begin(), parameters.end(), member) - parameters.begin();
      result.push_back(groups.empty() ? GroupSettings{} : groups.at(index));
    }
  }
  return result;
}

}  // namespace

std::vector<Value> StateValues::list() const {
  std::vector<Value> all = parameters;
  all.insert(all.end(), m.begin(), m.end());
  all.insert(all.end(), v.begin(), v.end());
  all.push_back(ok);
  return all;
}

namespace {

std::vector<Value> stored_inputs(Graph& graph, const std::vector<StoredParameter>& store, const std::string& prefix) {
  std::vector<Value> values;
  for (const StoredParameter& p : store) values.push_back(graph.input(p.type, prefix + p.name, p.placement));
  return values;
}

void add_batch(Graph& graph, StepInputs& inputs, const BatchShape& shape, const Mesh& mesh) {
  const TensorType rows{DType::S32, {shape.microbatches, shape.rows, shape.seq_len}};
  const Placement placement = batch_placement(mesh, 1);
  inputs.tokens_ABS = graph.input(rows, "tokens", placement);
  inputs.labels_ABS = graph.input(rows, "labels", placement);
  inputs.positions_ABS = graph.input(rows, "positions", placement);
  inputs.segments_ABS = graph.input(rows, "segments", placement);
}

}  // namespace

StepInputs update_inputs(Graph& graph, const std::vector<StoredParameter>& store, const Mesh& mesh) {
  require(!store.empty(), "a step without parameters");
  StepInputs inputs;
  inputs.state.parameters = stored_inputs(graph, store, "");
  inputs.state.m = stored_inputs(graph, store, "m.");
  inputs.state.v = stored_inputs(graph, store, "v.");
  const Placement whole = replicated(mesh);
  inputs.state.ok = graph.input({DType::Bool, {}}, "ok", whole);
  inputs.step = graph.input({DType::S32, {}}, "step", whole);
  inputs.learning_rate = graph.input({wide(store[0].type.dtype), {}}, "learning_rate", whole);
  return inputs;
}

StepInputs gradient_inputs(Graph& graph, const std::vector<StoredParameter>& store, const BatchShape& shape,
                           const Mesh& mesh) {
  StepInputs inputs;
  inputs.state.parameters = stored_inputs(graph, store, "");
  add_batch(graph, inputs, shape, mesh);
  return inputs;
}

StepInputs step_inputs(Graph& graph, const std::vector<StoredParameter>& store, const BatchShape& shape,
                       const Mesh& mesh) {
  StepInputs inputs = update_inputs(graph, store, mesh);
  add_batch(graph, inputs, shape, mesh);
  return inputs;
}

StepResults record_step(LanguageModel& model, const std::vector<StoredParameter>& store, const StepInputs& inputs,
                        const StepOptions& options) {
  return record_update(model, store, inputs, record_gradients(model, store, inputs, options.remat), options);
}

StepResults record_update(LanguageModel& model, const std::vector<StoredParameter>& store, const StepInputs& inputs,
                          const LossAndGradients& sums, const StepOptions& options) {
  const Placement whole = replicated(options.mesh);
  StepResults results;
  results.gradients = reduced(sums.gradients, store, inputs.state.parameters);
  results.loss = redistribute(sums.loss, whole);
  const Tensor norm = global_norm(by_placement(store, results.gradients));
  results.norm = redistribute(norm.value(), whole);
  const Tensor factor = clip_factor(results.norm, options.max_norm);
  const Tensor ok = Tensor(inputs.state.ok) & is_finite(Tensor(results.loss)) & is_finite(Tensor(results.norm));

  const std::vector<GroupSettings> settings = settings_of(store, model, options.groups);
  Update update(store, inputs, options, ok);
  size_t first = 0;
  for (size_t i = 0; i < store.size(); ++i) {
    const size_t count = store[i].members.size();
    if (store[i].trained()) {
      update.add(i, Tensor(results.gradients[i]) * factor, std::span(settings).subspan(first, count));
    } else {
      update.add_untrained(i, results.gradients[i]);
    }
    first += count;
  }
  results.state = update.result();
  return results;
}

RecordedStep record_training_step(LanguageModel& model, const std::vector<StoredParameter>& store,
                                  const BatchShape& shape, const StepOptions& options) {
  RecordedStep recorded{std::make_shared<Graph>(), {}};
  const StepInputs inputs = step_inputs(*recorded.graph, store, shape, options.mesh);
  const StepResults results = record_step(model, store, inputs, options);
  std::vector<Value> outputs = results.state.list();
  recorded.aliases.assign(recorded.graph->inputs().size(), -1);
  for (size_t i = 0; i < outputs.size(); ++i) recorded.aliases[i] = static_cast<int64_t>(i);
  outputs.push_back(results.loss);
  outputs.push_back(results.norm);
  if (options.output_gradients) outputs.insert(outputs.end(), results.gradients.begin(), results.gradients.end());
  recorded.graph->set_outputs(outputs);
  return recorded;
}

}  // namespace tethys
