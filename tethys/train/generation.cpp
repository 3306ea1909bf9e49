#include "train/generation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace tethys {
namespace {

// Inputs: the parameters, tokens [1,S], positions, segments, and the place to look at. Output: its logits [V].
std::unique_ptr<Graph> record_next_token(const TrainingSetup& setup, int64_t length) {
  auto graph = std::make_unique<Graph>();
  std::vector<Value> parameters;
  for (const StoredParameter& stored : setup.store) {
    parameters.push_back(graph->input(stored.type, stored.name, stored.placement));
  }
  bind_store(*graph, setup.store, parameters);
  const TensorType rows{DType::S32, {1, length}};
  const Tensor tokens = graph->input(rows, "tokens", Placement{});
  const Tensor positions = graph->input(rows, "positions", Placement{});
  const Tensor segments = graph->input(rows, "segments", Placement{});
  const Tensor place = graph->input({DType::S32, {}}, "place", Placement{});
  const Tensor logits_BSV = setup.model->logits({tokens, positions, segments});
  const Tensor logits_SV = reshape(logits_BSV, {length, -1});
  graph->set_outputs({cast(take(logits_SV, place), DType::F32).value()});
  return graph;
}

// The same on every machine, unlike the standard library's distributions.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

}  // namespace

int32_t sample(std::span<const float> logits, double temperature, double uniform) {
  const auto likeliest = std::max_element(logits.begin(), logits.end());
  if (temperature <= 0) return static_cast<int32_t>(likeliest - logits.begin());
  std::vector<double> sums(logits.size());
  double total = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    sums[i] = total += std::exp((static_cast<double>(logits[i]) - static_cast<double>(*likeliest)) / temperature);
  }
  const auto chosen = std::upper_bound(sums.begin(), sums.end(), uniform * total);
  return static_cast<int32_t>(std::min(chosen, sums.end() - 1) - sums.begin());
}

Generator::Generator(Executor& executor, const TrainingSetup& setup, std::vector<Array> parameters, int64_t length)
    : executor_(executor), parameters_(std::move(parameters)), length_(length) {
  require(executor.mesh() == Mesh(), "generation on a mesh of {}", to_string(executor.mesh()));
  std::vector<int32_t> counted(static_cast<size_t>(length));
  std::iota(counted.begin(), counted.end(), 0);
  positions_ = to_device(executor.devices(), HostTensor::of<int32_t>({1, length}, counted), {});
  segments_ = to_device(executor.devices(), HostTensor(TensorType{DType::S32, {1, length}}), {});
  program_ =
      executor.compile(make_program(*record_next_token(setup, length), executor.mesh(), executor.capabilities()));
}

std::vector<int32_t> Generator::run(std::vector<int32_t> prompt, const Sampling& sampling) {
  require(!prompt.empty() && static_cast<int64_t>(prompt.size()) <= length_, "a prompt of {} tokens for a text of {}",
          prompt.size(), length_);
  std::mt19937_64 random(sampling.seed);
  std::vector<int32_t> ids = std::move(prompt);
  HostTensor row(TensorType{DType::S32, {1, length_}});
  std::copy(ids.begin(), ids.end(), row.as<int32_t>().begin());
  while (static_cast<int64_t>(ids.size()) < length_) {
    std::vector<Array> arguments = parameters_;
    arguments.push_back(to_device(executor_.devices(), row, {}));
    arguments.push_back(positions_);
    arguments.push_back(segments_);
    arguments.push_back(to_device(executor_.devices(), HostTensor::scalar(static_cast<int32_t>(ids.size()) - 1), {}));
    const HostTensor logits = to_host(executor_.run(*program_, std::move(arguments)).at(0));
    const std::span<const float> all = logits.as<float>();
    const size_t known = std::min(all.size(), static_cast<size_t>(sampling.vocab_size));
    const int32_t next = sample(all.first(known), sampling.temperature, uniform(random));
    if (next == sampling.end) break;
    row.as<int32_t>()[ids.size()] = next;
    ids.push_back(next);
  }
  return ids;
}

}  // namespace tethys
