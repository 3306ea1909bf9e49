#include "train/step_runner.h"

#include "base/error.h"
#include "runtime/eager.h"

namespace tethys {

std::vector<Array> step_arguments(const TrainingState& state, const StepFeed& feed, Executor& executor,
                                  const TrainingSetup& setup) {
  const Placement whole = replicated(executor.mesh());
  const Placement rows = batch_placement(executor.mesh(), 1);
  std::vector<Array> arguments = state.list();
  for (const HostTensor& scalar : scalars_of(feed, setup))
    arguments.push_back(to_device(executor.devices(), scalar, whole));
  for (const HostTensor& part : rows_of(feed, setup)) arguments.push_back(to_device(executor.devices(), part, rows));
  return arguments;
}

StepResults record_running(RunObserver& observer, Graph& graph, const std::vector<Array>& arguments,
                           const TrainingSetup& setup) {
  const StepInputs inputs = step_inputs(graph, setup.store, setup.shape, setup.mesh);
  require(graph.inputs().size() == arguments.size(), "{} arguments for a step of {} inputs", arguments.size(),
          graph.inputs().size());
  for (size_t i = 0; i < arguments.size(); ++i) observer.bind_input(graph.value(graph.inputs()[i]), arguments[i]);
  return record_step(*setup.model, setup.store, inputs, setup.step);
}

StepRunner::StepRunner(Executor& executor, const TrainingSetup& setup, DeferredOptions deferred)
    : executor_(executor), setup_(setup), deferred_(std::move(deferred)) {
  if (executor.mode() == Mode::Compile || setup.split_offload) {
    parts_.emplace(executor, setup);
    notes_ = parts_->notes();
    waits_ = parts_->waits();
    compiled_ = std::async(std::launch::async, [this] {
                  if (executor_.tracer()) executor_.tracer()->name_thread("compiler");
                  parts_->compile();
                }).share();
  }
  if (executor.mode() != Mode::Graph || parts_) return;
  const RecordedStep step = record_training_step(*setup.model, setup.store, setup.shape, setup.step);
  Program program = make_program(*step.graph, setup.mesh, executor.capabilities(), step.aliases, setup.gathers);
  notes_ = program.notes;
  waits_ = program.waits;
  if (executor.saved() && !executor.is_saved(program)) user_error("{}", executor.saved()->another_program);
  program_ = std::async(std::launch::async, [&executor, program = std::move(program)] {
               if (executor.tracer()) executor.tracer()->name_thread("compiler");
               return executor.compile(program, "training step");
             }).share();
}

StepOutcome StepRunner::run(TrainingState& state, const StepFeed& feed) {
  StepOutcome outcome = run_in_mode(state, feed);
  const auto done = std::make_shared<DoneTime>();
  outcome.loss.on_ready([done] { done->set(Clock::now()); });
  outcome.done = done;
  return outcome;
}

StepOutcome StepRunner::run_in_mode(TrainingState& state, const StepFeed& feed) {
  if (parts_) {
    compiled_.get();
    return parts_->run(state, feed);
  }
  std::vector<Array> arguments = step_arguments(state, feed, executor_, setup_);
  return program_.valid() ? run_program(state, std::move(arguments)) : run_recording(state, arguments);
}

StepOutcome StepRunner::run_program(TrainingState& state, std::vector<Array> arguments) {
  const std::vector<Array> results = executor_.run(*program_.get(), std::move(arguments));
  state = TrainingState::from(results, setup_.store.size());
  const size_t count = 3 * setup_.store.size() + 1;
  return {results.at(count), results.at(count + 1)};
}

StepOutcome StepRunner::run_recording(TrainingState& state, const std::vector<Array>& arguments) {
  Graph graph;
  std::unique_ptr<RunObserver> observer;
  if (executor_.mode() == Mode::Deferred)
    observer = std::make_unique<DeferredObserver>(executor_, graph, deferred_);
  else
    observer = std::make_unique<EagerObserver>(executor_, graph);
  const StepResults results = record_running(*observer, graph, arguments, setup_);
  const std::vector<Value> values = results.state.list();
  std::vector<Value> wanted = values;
  wanted.insert(wanted.end(), {results.loss, results.norm});
  observer->end_step(wanted);
  std::vector<Array> next;
  for (size_t i = 0; i < values.size(); ++i) {
    next.push_back(observer->array(values[i]));
    next.back().set_kind(arguments[i].kind());
  }
  state = TrainingState::from(next, setup_.store.size());
  return {observer->array(results.loss), observer->array(results.norm)};
}

}  // namespace tethys
