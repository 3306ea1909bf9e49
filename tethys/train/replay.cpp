#include "train/replay.h"

#include <cmath>

#include "runtime/eager.h"

namespace tethys {
namespace {

// What an array holds that is not finite, if anything.
std::optional<std::string> not_finite(const Array& array) {
  if (!is_floating(array.type().dtype)) return std::nullopt;
  bool infinite = false;
  for (int64_t position : array.devices()->mesh().addressable()) {
    for (double number : read_shard(array, position).to_doubles()) {
      if (std::isnan(number)) return "NaN";
      infinite = infinite || std::isinf(number);
    }
  }
  return infinite ? std::optional<std::string>("infinity") : std::nullopt;
}

std::optional<std::string> fault_in_state(const TrainingSetup& setup, const TrainingState& state) {
  const std::pair<const char*, const std::vector<Array>*> lists[] = {
      {"", &state.parameters}, {"optimizer.m.", &state.m}, {"optimizer.v.", &state.v}};
  for (const auto& [prefix, arrays] : lists) {
    for (size_t i = 0; i < arrays->size(); ++i) {
      const auto kind = not_finite((*arrays)[i]);
      if (kind) return prefix + setup.store[i].name + " holds " + *kind + " before the step";
    }
  }
  return std::nullopt;
}

// Thrown out of the recording as soon as the fault is found.
struct Found {
  std::string text;
};

void inspect(const EagerStep& step, const std::function<void(const std::string&)>& finite) {
  if (step.node.operands.empty()) return;  // a number that the program is given is no fault
  const std::string where = describe(step.node, step.iterations);
  for (const Array& result : step.results) {
    if (const auto kind = not_finite(result)) throw Found{where + " gives " + *kind};
  }
  if (finite) finite(where);
}

}  // namespace

std::optional<std::string> find_fault(const Machine& machine, const Capabilities& capabilities,
                                      const TrainingSetup& setup, const TrainingState& state, const StepFeed& feed,
                                      const std::function<void(const std::string&)>& finite) {
  if (const auto fault = fault_in_state(setup, state)) return fault;
  Executor executor(machine.client, setup.mesh, capabilities, {.mode = Mode::Eager});
  Graph graph;
  const auto look = [&](const EagerStep& step) { inspect(step, finite); };
  EagerObserver eager(executor, graph, {.unroll = true, .inspect = look});
  TrainingState before = state;
  before.ok = true_everywhere(executor);
  try {
    record_running(eager, graph, step_arguments(before, feed, executor, setup), setup);
  } catch (const Found& found) {
    return found.text;
  }
  return std::nullopt;
}

}  // namespace tethys
