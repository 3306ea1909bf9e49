#include "train/replay.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "runtime/eager.h"
#include "train/finite.h"

namespace tethys {
namespace {

// What is not finite among numbers, if anything.
std::optional<std::string> not_finite(const TensorType& type, std::span<const std::byte> bytes) {
  if (all_finite(type.dtype, bytes)) return std::nullopt;
  const std::vector<double> numbers = HostTensor(type, {bytes.begin(), bytes.end()}).to_doubles();
  return std::any_of(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); }) ? "NaN" : "infinity";
}

// What an array of `members` stacked tensors, or of one, holds that is not finite, and in which of them.
struct NotFinite {
  std::string kind;
  size_t member = 0;
};
std::optional<NotFinite> not_finite(const Array& array, size_t members = 1) {
  if (!is_floating(array.type().dtype)) return std::nullopt;
  for (int64_t position : array.devices()->mesh().addressable()) {
    const HostTensor shard = read_shard(array, position);
    TensorType type{shard.type().dtype, {shard.type().elements() / static_cast<int64_t>(members)}};
    const auto size = static_cast<size_t>(type.bytes());
    for (size_t member = 0; member < members; ++member) {
      if (const auto kind = not_finite(type, shard.bytes().subspan(member * size, size))) return {{*kind, member}};
    }
  }
  return std::nullopt;
}

std::optional<std::string> fault_in_state(const TrainingSetup& setup, const TrainingState& state) {
  const std::pair<const char*, const std::vector<Array>*> lists[] = {
      {"", &state.parameters}, {"optimizer.m.", &state.m}, {"optimizer.v.", &state.v}};
  for (const auto& [prefix, arrays] : lists) {
    for (size_t i = 0; i < arrays->size(); ++i) {
      const std::vector<const Parameter*>& members = setup.store[i].members;
      if (const auto fault = not_finite((*arrays)[i], members.size())) {
        return fmt::format("{}{} holds {} before the step", prefix, members.at(fault->member)->name(), fault->kind);
      }
    }
  }
  return std::nullopt;
}

// "layers.3" of "layers.3.attention.wq.weight".
std::string block_of(const std::string& name) { return name.substr(0, name.find('.', name.find('.') + 1)); }

// A loop over layers is recorded as its first layer; it stands in the loop over microbatches, where there is one.
std::string module_of(const EagerStep& step, const TrainingSetup& setup) {
  const std::string& scope = step.node.scope;
  const size_t loop = setup.shape.microbatches > 1 ? 1 : 0;
  if (step.iterations.size() <= loop) return scope;
  for (const StoredParameter& stored : setup.store) {
    if (!stored.stacked) continue;
    const std::string first = block_of(stored.members[0]->name());
    if (scope != first && !scope.starts_with(first + ".")) continue;
    return block_of(stored.members.at(step.iterations[loop])->name()) + scope.substr(first.size());
  }
  return scope;
}

// Thrown out of the recording as soon as the fault is found.
struct Found {
  std::string text;
};

void inspect(const EagerStep& step, const TrainingSetup& setup, const std::function<void(const std::string&)>& finite) {
  if (step.node.operands.empty()) return;  // a number that the program is given is no fault
  const std::string where = describe(step.node, module_of(step, setup), step.iterations);
  for (const Array& result : step.results) {
    if (const auto fault = not_finite(result)) throw Found{where + " gives " + fault->kind};
  }
  if (finite) finite(where);
}

}  // namespace

FaultFinder::FaultFinder(const Machine& machine, const Capabilities& capabilities, const TrainingSetup& setup)
    : setup_(setup), executor_(machine.client, setup.mesh, capabilities, {.mode = Mode::Eager}) {}

std::optional<std::string> FaultFinder::find(const TrainingState& state, const StepFeed& feed,
                                             const std::function<void(const std::string&)>& finite) {
  const std::optional<std::string> before = fault_in_state(setup_, state);
  Graph graph;
  const auto look = [&](const EagerStep& step) { inspect(step, setup_, finite); };
  EagerObserver eager(executor_, graph, {.unroll = true, .inspect = look});
  TrainingState ready = state;
  ready.ok = true_everywhere(executor_);
  try {
    record_running(eager, graph, step_arguments(ready, feed, executor_, setup_), setup_);
  } catch (const Found& found) {
    return before ? *before + ", and " + found.text : found.text;
  }
  return before;
}

}  // namespace tethys
