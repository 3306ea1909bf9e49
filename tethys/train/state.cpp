#include "train/state.h"

#include <algorithm>

#include "base/glob.h"
#include "base/nearest.h"
#include "checkpoint/convert.h"
#include "nn/initial_values.h"
#include "ops/control/redistribute.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// Zeros for each stored parameter, twice: both moments.
void record_zeros(Graph& graph, const std::vector<StoredParameter>& store, std::vector<Value>& outputs) {
  for (int moment = 0; moment < 2; ++moment) {
    for (const StoredParameter& stored : store) {
      outputs.push_back(redistribute(splat(graph, stored.type, 0), stored.placement));
    }
  }
}

TrainingState with_kinds(TrainingState state) {
  for (Array& array : state.parameters) array.set_kind(ArrayKind::Parameter);
  for (Array& array : state.m) array.set_kind(ArrayKind::Optimizer);
  for (Array& array : state.v) array.set_kind(ArrayKind::Optimizer);
  return state;
}

std::vector<Array> run_once(Executor& executor, const Graph& graph, std::vector<Array> arguments) {
  const Program program = make_program(graph, executor.mesh(), executor.capabilities());
  return executor.run(*executor.compile(program, "initial values"), std::move(arguments));
}

}  // namespace

Array true_everywhere(Executor& executor) {
  HostTensor yes(TensorType{DType::Bool, {}});
  yes.bytes()[0] = std::byte{1};
  return to_device(executor.devices(), yes, replicated(executor.mesh()), {.kind = ArrayKind::Optimizer});
}

std::vector<Array> TrainingState::list() const {
  std::vector<Array> all = parameters;
  all.insert(all.end(), m.begin(), m.end());
  all.insert(all.end(), v.begin(), v.end());
  all.push_back(ok);
  return all;
}

TrainingState TrainingState::from(const std::vector<Array>& list, size_t stored) {
  require(list.size() > 3 * stored, "a state of {} arrays for {} stored parameters", list.size(), stored);
  const auto part = [&](size_t index) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(index * stored);
    return std::vector<Array>(begin, begin + static_cast<std::ptrdiff_t>(stored));
  };
  return {part(0), part(1), part(2), list[3 * stored]};
}

TrainingState initial_state(Executor& executor, const TrainingSetup& setup, uint64_t seed) {
  Graph graph;
  const Placement whole = replicated(executor.mesh());
  const Value seed_words = graph.input({DType::U32, {2}}, "seed", whole);
  std::vector<Value> outputs = initial_values(seed_words, setup.store);
  record_zeros(graph, setup.store, outputs);
  graph.set_outputs(outputs);
  const HostTensor words =
      HostTensor::of<uint32_t>({2}, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  std::vector<Array> arrays = run_once(executor, graph, {to_device(executor.devices(), words, whole)});
  arrays.push_back(true_everywhere(executor));
  return with_kinds(TrainingState::from(arrays, setup.store.size()));
}

namespace {

constexpr std::string_view kOptimizer = "optimizer.";

// A checkpoint of another model is refused as a whole, also where the model is a part of it. The optimizer's tensors
// are not looked at: a checkpoint of weights alone has none. Nor are those that are not loaded.
void require_model(const Checkpoint& checkpoint, const TrainingSetup& setup, const LoadOptions& options) {
  const auto& [convert, excluded, kept] = options;
  std::map<std::string, TensorType> expected;
  append_types(expected, "", setup.store, setup.precision.storage);
  Manifest parameters = checkpoint.manifest();
  const auto is_left_out = [&](const auto& entry) {
    return entry.first.starts_with(kOptimizer) || (excluded && excluded(entry.first));
  };
  std::erase_if(parameters.tensors, is_left_out);
  std::erase_if(expected, is_left_out);
  for (const StoredParameter& stored : setup.store) {
    for (const Parameter* member : stored.members) {
      if (is_left_open(checkpoint, stored, member->name(), options)) expected.erase(member->name());
    }
  }
  for (auto& [name, type] : expected) {
    const auto found = parameters.tensors.find(name);
    if (convert && found != parameters.tensors.end() && is_convertible(found->second.type.dtype)) {
      type.dtype = found->second.type.dtype;
    }
  }
  require_tensors(parameters, expected, checkpoint.path().string());
}

std::vector<Array> load_as_parameters(Checkpoint& checkpoint, Executor& executor, const TrainingSetup& setup,
                                      const LoadOptions& options) {
  require_model(checkpoint, setup, options);
  return load_arrays(checkpoint, "", setup.store, setup.precision.storage, executor.devices(), ArrayKind::Parameter,
                     options);
}

// Each pattern names something, or it is misspelt.
void require_matches(const std::vector<std::string>& patterns, const TrainingSetup& setup) {
  std::map<std::string, TensorType> types;
  append_types(types, "", setup.store, setup.precision.storage);
  std::vector<std::string> names;
  for (const auto& [name, type] : types) names.push_back(name);
  for (const std::string& pattern : patterns) {
    const auto matches = [&](const std::string& name) { return glob_match(pattern, name); };
    if (std::any_of(names.begin(), names.end(), matches)) continue;
    user_error("checkpoint.exclude_from_loading: no parameter matches \"{}\"; the nearest is {}", pattern,
               nearest_name(pattern, names));
  }
}

}  // namespace

std::vector<Array> load_parameters(Checkpoint& checkpoint, Executor& executor, const TrainingSetup& setup) {
  return load_as_parameters(checkpoint, executor, setup, {.convert = true});
}

TrainingState load_state(Checkpoint& checkpoint, Executor& executor, const TrainingSetup& setup) {
  const auto load = [&](const std::string& prefix) {
    return load_arrays(checkpoint, prefix, setup.store, setup.precision.storage, executor.devices(),
                       ArrayKind::Optimizer);
  };
  return {load_as_parameters(checkpoint, executor, setup, {}), load("optimizer.m."), load("optimizer.v."),
          true_everywhere(executor)};
}

TrainingState load_weights(Checkpoint& checkpoint, Executor& executor, const TrainingSetup& setup,
                           const std::vector<std::string>& excluded, uint64_t seed) {
  if (!excluded.empty()) {
    require_matches(excluded, setup);
    TrainingState state = initial_state(executor, setup, seed);
    const auto is_excluded = [&](const std::string& name) {
      return std::any_of(excluded.begin(), excluded.end(), [&](const auto& glob) { return glob_match(glob, name); });
    };
    state.parameters = load_as_parameters(checkpoint, executor, setup,
                                          {.convert = true, .excluded = is_excluded, .kept = state.parameters});
    return state;
  }
  Graph graph;
  std::vector<Value> outputs;
  record_zeros(graph, setup.store, outputs);
  graph.set_outputs(outputs);
  std::vector<Array> arrays = load_parameters(checkpoint, executor, setup);
  for (Array& zeros : run_once(executor, graph, {})) arrays.push_back(std::move(zeros));
  arrays.push_back(true_everywhere(executor));
  return with_kinds(TrainingState::from(arrays, setup.store.size()));
}

std::vector<PieceSource> weight_pieces_of(const TrainingState& state, const TrainingSetup& setup, CopyMemory* copies) {
  std::vector<PieceSource> pieces;
  append_pieces(pieces, "", setup.store, state.parameters, copies);
  return pieces;
}

std::vector<PieceSource> pieces_of(const TrainingState& state, const TrainingSetup& setup, CopyMemory* copies) {
  std::vector<PieceSource> pieces = weight_pieces_of(state, setup, copies);
  append_pieces(pieces, "optimizer.m.", setup.store, state.m, copies);
  append_pieces(pieces, "optimizer.v.", setup.store, state.v, copies);
  return pieces;
}

bool has_weights_only(const Checkpoint& checkpoint) {
  const auto& tensors = checkpoint.manifest().tensors;
  return std::none_of(tensors.begin(), tensors.end(), [](const auto& t) { return t.first.starts_with(kOptimizer); });
}

}  // namespace tethys
