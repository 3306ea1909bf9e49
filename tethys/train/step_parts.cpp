#include "train/step_parts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "ops/control/redistribute.h"
#include "ops/registry.h"
#include "train/gradients.h"
#include "train/token_order.h"

namespace tethys {
namespace {

Array put(const Executor& executor, const HostTensor& tensor, const Placement& placement) {
  return to_device(executor.devices(), tensor, placement);
}

// One microbatch of [A,B,S], as [1,B,S].
HostTensor microbatch_of(const HostTensor& rows_ABS, size_t microbatch) {
  Dims dims = rows_ABS.type().dims;
  dims[0] = 1;
  const TensorType type{rows_ABS.type().dtype, dims};
  const auto bytes = static_cast<size_t>(type.bytes());
  const auto part = rows_ABS.bytes().subspan(microbatch * bytes, bytes);
  return HostTensor(type, {part.begin(), part.end()});
}

std::vector<Value> inputs_like(Graph& graph, const std::vector<Port>& ports, const std::string& prefix) {
  std::vector<Value> values;
  for (const Port& port : ports)
    values.push_back(graph.input(port.type, fmt::format("{} {}", prefix, values.size()), port.placement));
  return values;
}

void append(std::vector<Array>& list, std::vector<Array> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

StepParts::StepParts(Executor& executor, const TrainingSetup& setup) : executor_(executor), setup_(setup) {
  Graph count;
  const BatchShape& shape = setup.shape;
  const TensorType rows{DType::S32, {shape.microbatches, shape.rows, shape.seq_len}};
  const Value labels = count.input(rows, "labels", batch_placement(setup.mesh, 1));
  count.set_outputs({redistribute(record_inverse_count(labels, setup.store), replicated(setup.mesh))});
  count_.program = make(count);
  record_microbatch_parts();
}

Program StepParts::make(const Graph& graph, const std::vector<int64_t>& aliases) const {
  return make_program(graph, setup_.mesh, executor_.capabilities(), aliases, setup_.gathers);
}

void StepParts::record_microbatch_parts() {
  Graph graph;
  const BatchShape one{1, setup_.shape.rows, setup_.shape.seq_len};
  const StepInputs inputs = gradient_inputs(graph, setup_.store, one, setup_.mesh);
  const Port& inverse = count_.program.outputs[0];
  const RecordedMicrobatch recorded =
      record_microbatch(*setup_.model, setup_.store, inputs,
                        graph.input(inverse.type, "inverse_count", inverse.placement), setup_.step.remat);
  std::vector<Value> outputs = {recorded.sums.loss};
  outputs.insert(outputs.end(), recorded.sums.gradients.begin(), recorded.sums.gradients.end());
  graph.set_outputs(outputs);
  const Split halves = split(graph, recorded.backward);
  forward_outputs_ = halves.first_outputs;
  backward_outputs_ = halves.second_outputs;
  forward_.program = make(*halves.first);
  for (size_t i = 0; i < halves.residuals; ++i) {
    const ValueId residual = halves.second->inputs()[graph.inputs().size() + i];
    halves.second->set_placement(residual, forward_.program.outputs[forward_outputs_.size() + i].placement);
  }
  backward_.program = make(*halves.second);

  std::vector<Port> sums(outputs.size());
  for (size_t i = 0; i < forward_outputs_.size(); ++i) sums[forward_outputs_[i]] = forward_.program.outputs[i];
  for (size_t i = 0; i < backward_outputs_.size(); ++i) sums[backward_outputs_[i]] = backward_.program.outputs[i];
  if (setup_.shape.microbatches > 1) record_add(sums);
  record_update_part(sums);
}

void StepParts::record_add(const std::vector<Port>& sums) {
  Graph graph;
  const std::vector<Value> before = inputs_like(graph, sums, "sum"), more = inputs_like(graph, sums, "more");
  std::vector<Value> outputs;
  std::vector<int64_t> aliases(2 * sums.size(), -1);
  for (size_t i = 0; i < sums.size(); ++i) {
    outputs.push_back(tethys::add(before[i], more[i]));
    aliases[i] = static_cast<int64_t>(i);
  }
  graph.set_outputs(outputs);
  add_ = Part{make(graph, aliases)};
}

void StepParts::record_update_part(const std::vector<Port>& sums) {
  Graph graph;
  const StepInputs inputs = update_inputs(graph, setup_.store, setup_.mesh);
  const std::vector<Value> values = inputs_like(graph, sums, "sum");
  const StepResults results =
      record_update(*setup_.model, setup_.store, inputs, {values[0], {values.begin() + 1, values.end()}}, setup_.step);
  std::vector<Value> outputs = results.state.list();
  std::vector<int64_t> aliases(graph.inputs().size(), -1);
  for (size_t i = 0; i < outputs.size(); ++i) aliases[i] = static_cast<int64_t>(i);
  outputs.insert(outputs.end(), {results.loss, results.norm});
  graph.set_outputs(outputs);
  update_.program = make(graph, aliases);
}

std::vector<const StepParts::Part*> StepParts::parts() const {
  std::vector<const Part*> all = {&count_, &forward_, &backward_, &update_};
  if (add_) all.push_back(&*add_);
  return all;
}

void StepParts::compile() {
  for (Part* part : {&count_, &forward_, &backward_, &update_}) part->compiled = executor_.compile(part->program);
  if (add_) add_->compiled = executor_.compile(add_->program);
}

StepParts::DeviceBatch StepParts::place(const StepFeed& feed) {
  const Placement rows = batch_placement(setup_.mesh, 1);
  std::vector<HostTensor> ordered;
  for (const HostTensor* part :
       {&feed.batch.tokens, &feed.batch.labels, &feed.batch.positions, &feed.batch.segment_ids})
    ordered.push_back(in_order(*part, setup_.token_order));
  DeviceBatch batch;
  for (int64_t a = 0; a < setup_.shape.microbatches; ++a) {
    batch.microbatches.emplace_back();
    for (const HostTensor& all : ordered)
      batch.microbatches.back().push_back(put(executor_, microbatch_of(all, static_cast<size_t>(a)), rows));
  }
  batch.inverse_count = executor_.run(*count_.compiled, {put(executor_, ordered[1], rows)})[0];
  return batch;
}

std::vector<Array> StepParts::arguments(const std::vector<Array>& parameters, const DeviceBatch& batch,
                                        size_t microbatch) const {
  std::vector<Array> all = parameters;
  append(all, batch.microbatches.at(microbatch));
  all.push_back(batch.inverse_count);
  return all;
}

StepParts::Forward StepParts::forward(const std::vector<Array>& parameters, const DeviceBatch& batch,
                                      size_t microbatch) {
  std::vector<Array> results = executor_.run(*forward_.compiled, arguments(parameters, batch, microbatch));
  const auto residuals = results.begin() + static_cast<int64_t>(forward_outputs_.size());
  return {{results.begin(), residuals}, {residuals, results.end()}};
}

StepParts::Sums StepParts::backward(const std::vector<Array>& parameters, const DeviceBatch& batch, size_t microbatch,
                                    Forward forward) {
  std::vector<Array> all = arguments(parameters, batch, microbatch);
  append(all, std::move(forward.residuals));
  const std::vector<Array> results = executor_.run(*backward_.compiled, std::move(all));
  Sums sums(forward_outputs_.size() + backward_outputs_.size());
  for (size_t i = 0; i < forward_outputs_.size(); ++i) sums[forward_outputs_[i]] = forward.outputs[i];
  for (size_t i = 0; i < backward_outputs_.size(); ++i) sums[backward_outputs_[i]] = results[i];
  return sums;
}

StepParts::Sums StepParts::add(Sums sums, Sums more) {
  append(sums, std::move(more));
  return executor_.run(*add_->compiled, std::move(sums));
}

StepOutcome StepParts::update(TrainingState& state, const StepFeed& feed, Sums sums) {
  const Placement whole = replicated(setup_.mesh);
  const double rate[] = {feed.learning_rate};
  std::vector<Array> all = state.list();
  const size_t kept = all.size();
  all.push_back(put(executor_, HostTensor::scalar(static_cast<int32_t>(feed.step)), whole));
  all.push_back(put(executor_, HostTensor::from_doubles({wide(setup_.precision.storage), {}}, rate), whole));
  append(all, std::move(sums));
  const std::vector<Array> results = executor_.run(*update_.compiled, std::move(all));
  state = TrainingState::from(results, setup_.store.size());
  return {results.at(kept), results.at(kept + 1)};
}

StepOutcome StepParts::run(TrainingState& state, const StepFeed& feed) {
  const DeviceBatch batch = place(feed);
  Sums sums;
  for (size_t a = 0; a < batch.microbatches.size(); ++a) {
    Sums more = backward(state.parameters, batch, a, forward(state.parameters, batch, a));
    sums = a == 0 ? std::move(more) : add(std::move(sums), std::move(more));
  }
  return update(state, feed, std::move(sums));
}

const pjrt::MemoryStats& StepParts::memory() const {
  const std::vector<const Part*> all = parts();
  const auto total = [](const Part* part) { return part->compiled->memory().total(); };
  return (*std::max_element(all.begin(), all.end(), [&](const Part* a, const Part* b) { return total(a) < total(b); }))
      ->compiled->memory();
}

std::vector<std::string> StepParts::notes() const {
  std::vector<std::string> all;
  for (const Part* part : parts()) all.insert(all.end(), part->program.notes.begin(), part->program.notes.end());
  return all;
}

std::string StepParts::waits() const {
  std::vector<std::string> all;
  for (const Part* part : parts()) {
    if (!part->program.waits.empty()) all.push_back(part->program.waits);
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace tethys
