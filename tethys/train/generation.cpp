#include "train/generation.h"

#include <algorithm>
#include <bit>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "config/config.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// Prompts that are shorter are not worth a program of their own.
constexpr int64_t kShortestPrompt = 16;

int64_t power_of_two(int64_t length) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(length, kShortestPrompt))));
}

void bind_parameters(Graph& graph, const TrainingSetup& setup) {
  std::vector<Value> parameters;
  for (const StoredParameter& stored : setup.store) {
    parameters.push_back(graph.input(stored.type, stored.name, stored.placement));
  }
  bind_store(graph, setup.store, parameters);
}

// The logits after row `place`, then the cache.
void set_results(Graph& graph, LanguageModel& model, const Tensor& hidden_BSD, const Tensor& place,
                 const KvCache& cache) {
  const Tensor last_D = take(reshape(hidden_BSD, {hidden_BSD.size(1), hidden_BSD.size(2)}), place);
  std::vector<Value> outputs = {reshape(model.project(reshape(last_D, {1, 1, -1})), {-1}).value()};
  for (const LayerCache& layer : cache.layers) {
    outputs.push_back(layer.keys_CET.value());
    outputs.push_back(layer.values_CTE.value());
  }
  graph.set_outputs(outputs);
}

std::unique_ptr<Graph> record_prefill(const TrainingSetup& setup, int64_t prompt, int64_t length) {
  auto graph = std::make_unique<Graph>();
  bind_parameters(*graph, setup);
  const TensorType rows{DType::S32, {1, prompt}};
  const Tensor tokens = graph->input(rows, "tokens", Placement{});
  const Tensor place = graph->input({DType::S32, {}}, "place", Placement{});
  KvCache cache = KvCache::made(length, setup.model->blocks().size());
  const Tensor hidden = setup.model->hidden({tokens, iota(*graph, rows, 1), splat(*graph, rows, 0)}, &cache);
  set_results(*graph, *setup.model, hidden, place, cache);
  return graph;
}

// `prefill` says of what type the cache is.
std::unique_ptr<Graph> record_decode(const TrainingSetup& setup, int64_t length, const Graph& prefill) {
  auto graph = std::make_unique<Graph>();
  bind_parameters(*graph, setup);
  const TensorType rows{DType::S32, {1, 1}};
  const Tensor token = graph->input(rows, "token", Placement{});
  const Tensor place = graph->input({DType::S32, {}}, "place", Placement{});
  const size_t layers = setup.model->blocks().size();
  KvCache cache = KvCache::made(length, layers);
  cache.place = place;
  for (size_t layer = 0; layer < layers; ++layer) {
    const auto type = [&](size_t output) { return prefill.type(prefill.outputs().at(output)); };
    cache.layers[layer] = {graph->input(type(1 + 2 * layer), fmt::format("keys.{}", layer), Placement{}),
                           graph->input(type(2 + 2 * layer), fmt::format("values.{}", layer), Placement{})};
  }
  const Tensor hidden = setup.model->hidden({token, reshape(place, {1, 1}), splat(*graph, rows, 0)}, &cache);
  set_results(*graph, *setup.model, hidden, splat(*graph, {DType::S32, {}}, 0), cache);
  return graph;
}

}  // namespace

int64_t GenerationPrograms::bytes() const { return std::max(prefill->memory().total(), decode->memory().total()); }

void take_one_device(Config& config, const std::string& place) {
  const Origin origin{Origin::Source::Flag, place};
  for (const char* degree : {"data_parallel_replicate_degree", "data_parallel_shard_degree", "context_parallel_degree",
                             "tensor_parallel_degree", "expert_parallel_degree"}) {
    config.set(std::string("parallelism.") + degree, int64_t{1}, origin);
  }
  config.set("training.global_batch_size", int64_t{-1}, origin);
  config.set("device.count", int64_t{1}, origin);
  config.set("graph.mode", std::string("graph"), origin);
  config.set("graph.scan_layers", false, origin);
  config.set("graph.remat", std::string("none"), origin);
}

void require_context(const Config& config, int64_t prompt, const std::string& length_option) {
  const int64_t length = config.get_int(length_option), context = config.get_int("model.context_length");
  if (prompt <= context && length <= context - prompt) return;
  user_error("the prompt's {} and {} are more than the model takes: {}", counted(prompt, "token"),
             config.cite(length_option), config.cite("model.context_length"));
}

GenerationPrograms compile_generation(Executor& executor, const TrainingSetup& setup, int64_t prompt, int64_t length) {
  require(executor.mesh() == Mesh(), "generation on a mesh of {}", to_string(executor.mesh()));
  require(0 < prompt && prompt <= length, "a prompt of {} tokens for a text of {}", prompt, length);
  GenerationPrograms programs{power_of_two(prompt), power_of_two(length), nullptr, nullptr};
  const auto prefill = record_prefill(setup, programs.prompt_length, programs.cache_length);
  const auto decode = record_decode(setup, programs.cache_length, *prefill);
  std::vector<int64_t> aliases(setup.store.size() + 2, -1);
  for (size_t i = 1; i < decode->outputs().size(); ++i) aliases.push_back(static_cast<int64_t>(i));
  const auto compile = [&](const Graph& graph, const std::vector<int64_t>& donated, const char* name) {
    return executor.compile(make_program(graph, executor.mesh(), executor.capabilities(), donated), name);
  };
  programs.prefill = compile(*prefill, {}, "prefill");
  programs.decode = compile(*decode, aliases, "decode");
  return programs;
}

Generator::Generator(Executor& executor, GenerationPrograms programs, std::vector<Array> parameters)
    : executor_(executor), programs_(std::move(programs)), parameters_(std::move(parameters)) {}

std::vector<double> Generator::keep(std::vector<Array> results) {
  std::vector<double> logits = to_host(results.at(0)).to_doubles();
  results.erase(results.begin());
  cache_ = std::move(results);
  return logits;
}

std::vector<double> Generator::prefill(std::span<const int32_t> prompt) {
  const auto size = static_cast<int64_t>(prompt.size());
  require(0 < size && size <= programs_.prompt_length, "a prompt of {} tokens for a program of {}", size,
          programs_.prompt_length);
  HostTensor row(TensorType{DType::S32, {1, programs_.prompt_length}});
  std::copy(prompt.begin(), prompt.end(), row.as<int32_t>().begin());
  std::vector<Array> arguments = parameters_;
  arguments.push_back(to_device(executor_.devices(), row, {}));
  arguments.push_back(to_device(executor_.devices(), HostTensor::scalar(static_cast<int32_t>(size) - 1), {}));
  cache_.clear();
  known_ = size;
  return keep(executor_.run(*programs_.prefill, std::move(arguments)));
}

std::vector<double> Generator::decode(int32_t token) {
  require(0 < known_ && known_ < programs_.cache_length, "a token after {} in a cache of {}", known_,
          programs_.cache_length);
  std::vector<Array> arguments = parameters_;
  arguments.push_back(to_device(executor_.devices(), HostTensor::of<int32_t>({1, 1}, {token}), {}));
  arguments.push_back(to_device(executor_.devices(), HostTensor::scalar(static_cast<int32_t>(known_)), {}));
  arguments.insert(arguments.end(), cache_.begin(), cache_.end());
  ++known_;
  return keep(executor_.run(*programs_.decode, std::move(arguments)));
}

GenerationSpeed Generator::run(std::span<const int32_t> prompt, int64_t tokens, const Sampling& sampling,
                               const std::function<bool(int32_t)>& tell) {
  GenerationSpeed speed{.prompt_tokens = static_cast<int64_t>(prompt.size())};
  std::mt19937_64 random(sampling.seed);
  const Clock::time_point begin = Clock::now();
  std::vector<double> logits = prefill(prompt);
  speed.prefill_seconds = seconds_since(begin);
  for (int64_t told = 0; told < tokens;) {
    const int32_t next = draw(candidates(logits, sampling), uniform(random));
    if (std::find(sampling.ends.begin(), sampling.ends.end(), next) != sampling.ends.end()) break;
    if (!tell(next) || ++told == tokens) break;
    const Clock::time_point step = Clock::now();
    logits = decode(next);
    speed.decode_seconds += seconds_since(step);
    ++speed.tokens;
  }
  return speed;
}

}  // namespace tethys
