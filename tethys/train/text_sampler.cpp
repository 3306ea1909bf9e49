#include "train/text_sampler.h"

#include <map>

#include "base/error.h"
#include "base/number.h"
#include "config/config.h"
#include "train/corpus.h"

namespace tethys {
namespace {

// No text is the beginning of one: what follows the end of another.
std::vector<int32_t> ids_of(const Tokenizer& tokenizer, const std::string& prompt) {
  std::vector<int32_t> ids = tokenizer.encode(prompt);
  if (ids.empty()) ids.push_back(tokenizer.end_of_text());
  return ids;
}

// The weights that training has, laid out for the sampler's own setup, whose store has one parameter in each array.
std::vector<Array> weights_for(Executor& executor, const TrainingSetup& own, const TrainingState& state,
                               const TrainingSetup& setup) {
  std::map<std::string, HostTensor> weights;
  for (const PieceSource& piece : weight_pieces_of(state, setup)) {
    HostTensor& weight = weights.try_emplace(piece.name, piece.type).first->second;
    std::vector<std::byte> bytes(static_cast<size_t>(piece.window.elements()) * size_of(piece.type.dtype));
    if (bytes.empty()) continue;
    piece.read(bytes);
    copy_shared(size_of(piece.type.dtype), piece.window, bytes, whole(piece.type.dims), weight.bytes());
  }
  std::vector<Array> arrays;
  for (const StoredParameter& stored : own.store) {
    require(!stored.stacked, "{} is a stack", stored.name);
    arrays.push_back(to_device(executor.devices(), weights.at(stored.name), stored.placement));
  }
  return arrays;
}

}  // namespace

void TextSampler::check(const Config& config) {
  if (config.get_string("data.tokenizer").empty()) {
    user_error("{} needs a tokenizer: give --data.tokenizer FILE", config.cite("metrics.sample_freq"));
  }
  const Tokenizer tokenizer = load_tokenizer(config);
  const auto prompt = static_cast<int64_t>(ids_of(tokenizer, config.get_string("metrics.sample_prompt")).size());
  // All of it is read at once, which grows with its square; training has rows of no more.
  if (prompt > config.get_int("training.seq_len")) {
    user_error("metrics.sample_prompt ({}) has {}, more than a row of training: {}; give a shorter one",
               config.origin("metrics.sample_prompt").place, counted(prompt, "token"), config.cite("training.seq_len"));
  }
  require_context(config, prompt, "metrics.sample_length");
}

TextSampler::TextSampler(const Config& config, const Machine& machine, const MachineOptions& options)
    : tokenizer_(load_tokenizer(config)),
      prompt_(config.get_string("metrics.sample_prompt")),
      ids_(ids_of(tokenizer_, prompt_)),
      tokens_(config.get_int("metrics.sample_length")),
      sampling_{.temperature = config.get_float("metrics.sample_temperature"),
                .seed = static_cast<uint64_t>(config.get_int("debug.seed")),
                .ends = tokenizer_.stops(),
                .vocab_size = tokenizer_.vocab_size()} {
  Config one = config;
  take_one_device(one, "metrics.sample_freq");
  setup_ = set_up(one, 1);
  executor_ = make_executor(one, machine, setup_.mesh, options);
  const auto prompt = static_cast<int64_t>(ids_.size());
  programs_ = compile_generation(*executor_, setup_, prompt, prompt + tokens_);
}

SampleMetrics TextSampler::run(const TrainingState& state, const TrainingSetup& setup, int64_t step) {
  Generator generator(*executor_, programs_, weights_for(*executor_, setup_, state, setup));
  std::vector<int32_t> said;
  generator.run(ids_, tokens_, sampling_, [&](int32_t id) {
    said.push_back(id);
    return true;
  });
  return {step, prompt_, tokenizer_.decode(said, Specials::Skip)};
}

}  // namespace tethys
