#include "train/step_parts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "ops/control/redistribute.h"
#include "ops/registry.h"
#include "train/gradients.h"

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

// What goes to the host's memory goes there between the programs, not in them.
StepParts::StepParts(Executor& executor, const TrainingSetup& setup)
    : executor_(executor), setup_(setup), capabilities_(executor.capabilities()) {
  capabilities_.host_memory = false;
  Graph count;
  const BatchShape& shape = setup.shape;
  const TensorType rows{DType::S32, {shape.microbatches, shape.rows, shape.seq_len}};
  const Value labels = count.input(rows, "labels", batch_placement(setup.mesh, 1));
  count.set_outputs({redistribute(record_inverse_count(labels, setup.store), replicated(setup.mesh))});
  count_.program = make(count);
  record_microbatch_parts();
}

Program StepParts::make(const Graph& graph, const std::vector<int64_t>& aliases) const {
  return make_program(graph, setup_.mesh, capabilities_, aliases, setup_.gathers);
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
  record_halves(halves, graph.inputs().size());

  std::vector<Port> sums(outputs.size());
  const std::vector<Port>&first = forward_.stages().output_ports, &second = backward_.stages().output_ports;
  for (size_t i = 0; i < forward_outputs_.size(); ++i) sums[forward_outputs_[i]] = first[i];
  for (size_t i = 0; i < backward_outputs_.size(); ++i) sums[backward_outputs_[i]] = second[i];
  if (setup_.shape.microbatches > 1) record_add(sums);
  record_update_part(sums);
}

void StepParts::record_halves(const Split& halves, size_t inputs) {
  const Localised first = localised(*halves.first, setup_.mesh, setup_.gathers);
  std::vector<size_t> given, taken;
  for (size_t i = 0; i < halves.residuals; ++i) {
    given.push_back(forward_outputs_.size() + i);
    taken.push_back(inputs + i);
    const ValueInfo& residual = first.placed->info(first.placed->outputs()[given.back()]);
    halves.second->set_placement(halves.second->inputs()[taken.back()],
                                 residual.placement.value_or(replicated(setup_.mesh)));
  }
  const Localised second = localised(*halves.second, setup_.mesh, setup_.gathers);
  const Streams streams = setup_.split_offload ? find_streams(*first.local, given, *second.local, taken) : Streams{};
  forward_ = StagedProgram(stages_of(first, setup_.mesh, capabilities_, {streams.outputs, {}}));
  backward_ = StagedProgram(stages_of(second, setup_.mesh, capabilities_, {{}, streams.inputs}));
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

std::vector<const Program*> StepParts::programs() const {
  std::vector<const Program*> all = {&count_.program, &update_.program};
  if (add_) all.push_back(&add_->program);
  for (const StagedProgram* half : {&forward_, &backward_}) {
    const std::vector<const Program*> stages = half->programs();
    all.insert(all.end(), stages.begin(), stages.end());
  }
  return all;
}

void StepParts::compile() {
  forward_.compile(executor_, "forward");
  backward_.compile(executor_, "backward");
  count_.compiled = executor_.compile(count_.program, "count of labels");
  update_.compiled = executor_.compile(update_.program, "optimizer");
  if (add_) add_->compiled = executor_.compile(add_->program, "sum of gradients");
}

StepParts::DeviceBatch StepParts::place(const StepFeed& feed) {
  const Placement rows = batch_placement(setup_.mesh, 1);
  const std::vector<HostTensor> ordered = rows_of(feed, setup_);
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
  StagedProgram::Results results = forward_.run(executor_, arguments(parameters, batch, microbatch));
  const auto first = results.outputs.begin(), residuals = first + static_cast<int64_t>(forward_outputs_.size());
  Forward forward{{first, residuals}, {residuals, results.outputs.end()}, std::move(results.streams)};
  for (Array& residual : forward.residuals) residual.set_kind(ArrayKind::Residual);
  return forward;
}

StepParts::Sums StepParts::backward(const std::vector<Array>& parameters, const DeviceBatch& batch, size_t microbatch,
                                    Forward forward) {
  std::vector<Array> all = arguments(parameters, batch, microbatch);
  append(all, std::move(forward.residuals));
  const std::vector<Array> results = backward_.run(executor_, std::move(all), std::move(forward.streams)).outputs;
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
  std::vector<Array> all = state.list();
  const size_t kept = all.size();
  for (const HostTensor& scalar : scalars_of(feed, setup_)) all.push_back(put(executor_, scalar, whole));
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
  std::vector<std::shared_ptr<const CompiledProgram>> all = forward_.compiled();
  for (const auto& more : {backward_.compiled(), {count_.compiled, update_.compiled}})
    all.insert(all.end(), more.begin(), more.end());
  if (add_) all.push_back(add_->compiled);
  const auto total = [](const auto& program) { return program->memory().total(); };
  return (*std::max_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return total(a) < total(b); }))
      ->memory();
}

std::vector<std::string> StepParts::notes() const {
  std::vector<std::string> all;
  for (const StagedProgram* half : {&forward_, &backward_})
    all.insert(all.end(), half->stages().notes.begin(), half->stages().notes.end());
  for (const Program* program : programs()) all.insert(all.end(), program->notes.begin(), program->notes.end());
  return all;
}

std::string StepParts::waits() const {
  std::vector<std::string> all;
  for (const Program* program : programs()) {
    if (!program->waits.empty()) all.push_back(program->waits);
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace tethys
