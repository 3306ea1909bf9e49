// tethys eval: the loss of a model over a text.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/number.h"
#include "data/tokenizer/tokenizer.h"
#include "tools/commands.h"
#include "tools/locations.h"
#include "tools/model.h"
#include "tools/screen.h"
#include "tools/xla_flags.h"
#include "train/corpus.h"
#include "train/fit.h"
#include "train/prepared.h"
#include "train/validation.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  return with_training_options({
      text_option("json", "", "file to write the figures to, with all their digits"),
      recipe_option(),
  });
}

struct Evaluation {
  ValidationMetrics metrics;
  std::string checkpoint;
  std::string text;              // where it is from
  std::optional<int64_t> bytes;  // that the labels spell, where they are the tokenizer's

  double perplexity() const { return std::exp(metrics.loss); }
  // All that the text cost, in bits, for each of its bytes: what compares models with different tokenizers.
  std::optional<double> bits_per_byte() const {
    if (bytes.value_or(0) == 0) return std::nullopt;
    return metrics.loss * static_cast<double>(metrics.tokens) / std::log(2.0) / static_cast<double>(*bytes);
  }
};

bool is_flag(const Config& config, const char* name) { return config.origin(name).source == Origin::Source::Flag; }

struct Text {
  TokenStream tokens;
  std::string source;
};

TokenStream all_of(const TrainingData& data) {
  if (data.sources.size() == 1) return data.training;
  std::vector<TokenStream> streams;
  for (const TrainingSource& source : data.sources) streams.push_back(source.tokens);
  return interleaved(streams, "the text");
}

// What the flags name, all of it unless one of them names a share to hold out; else what the run held out.
Text open_text(Config& config, const Surroundings& surroundings, const Progress& progress) {
  const Origin here{Origin::Source::Flag, "tethys eval"};
  const bool other_text = is_flag(config, "data.text"), other_tokens = is_flag(config, "data.tokens");
  if (other_text && !other_tokens) config.set("data.tokens", std::string(), here);
  if (other_tokens && !is_flag(config, "data.chats")) config.set("data.chats", false, here);
  if ((other_text || other_tokens) && !is_flag(config, "data.mix")) {
    config.set("data.mix", std::vector<std::string>(), here);
  }
  const bool has_tokens = !config.get_string("data.tokens").empty();
  if (!has_tokens && config.get_strings("data.text").empty()) {
    user_error(
        "there is nothing to evaluate on: give --data.text GLOBS (and --data.tokenizer FILE where the model brings "
        "none), or --data.tokens FILE");
  }
  if (has_tokens && !other_tokens) {
    user_error("{} has no held-out part; give --data.text GLOBS, or --data.tokens FILE", config.cite("data.tokens"));
  }
  const bool whole = other_tokens || (other_text && !is_flag(config, "data.holdout"));
  if (whole) config.set("data.holdout", 0.0, here);
  config.set("validation.enable", false, here);
  const TrainingData data = open_training_data(config, data_places(surroundings), progress);
  if (!whole && data.validation.size() == 0) {
    user_error("nothing is held out of {}: {}", config.cite("data.text"), config.cite("data.holdout"));
  }
  const std::string named = to_toml(config.value(has_tokens ? "data.tokens" : "data.text"));
  if (whole) return {all_of(data), named};
  return {data.validation, fmt::format("the {:.6g}% held out of {}", 100 * config.get_float("data.holdout"), named)};
}

// Nothing if a label is not the tokenizer's. The end of a text spells nothing.
std::optional<int64_t> bytes_of(const Validator& validator, const Tokenizer& tokenizer) {
  int64_t bytes = 0;
  bool known = true;
  validator.for_each_label([&](int32_t id) {
    known = known && id < tokenizer.vocab_size();
    if (known && !tokenizer.is_special(id)) bytes += static_cast<int64_t>(tokenizer.token(id).size());
  });
  return known ? std::optional(bytes) : std::nullopt;
}

Evaluation evaluate(Invocation& invocation, Checkpoint& checkpoint, const Text& text, const Progress& progress) {
  const Config& config = invocation.config;
  // Too little text is found now, before anything is compiled.
  const BatchMaker rows(text.tokens, {.seq_len = config.get_int("training.seq_len")});
  const auto [machine, setup, executor] = prepare(config, machine_options(config, invocation.surroundings));
  check_parameters_fit(setup, memory_of_devices(config), config, "training.dtype");
  Validator validator(*executor, setup, text.tokens, config.get_int("validation.steps"));
  check_evaluation_fits(validator.memory(), setup, memory_of_devices(config), config);
  const std::vector<Array> parameters = load_parameters(checkpoint, *executor, setup);
  Evaluation evaluation{validator.run(parameters, checkpoint.manifest().state.step, progress),
                        checkpoint.path().string(), text.source, std::nullopt};
  if (!config.get_string("data.tokenizer").empty()) {
    evaluation.bytes = bytes_of(validator, load_tokenizer(config));
  }
  return evaluation;
}

std::string table_of(const Evaluation& evaluation) {
  const ValidationMetrics& metrics = evaluation.metrics;
  const auto bits = evaluation.bits_per_byte();
  return fmt::format("{}\non {}\n\n", evaluation.checkpoint, evaluation.text) +
         fmt::format("{:>14}  {:>10}  {:>12}  {:>10}  {:>15}\n", "tokens", "loss", "perplexity", "bits/byte",
                     "unigram entropy") +
         fmt::format("{:>14}  {:>10.5f}  {:>12.3f}  {:>10}  {:>15.5f}\n", with_commas(metrics.tokens), metrics.loss,
                     evaluation.perplexity(), bits ? fmt::format("{:.5f}", *bits) : "-", metrics.entropy);
}

std::string json_of(const Evaluation& evaluation) {
  const ValidationMetrics& metrics = evaluation.metrics;
  nlohmann::ordered_json json = {{"checkpoint", evaluation.checkpoint},
                                 {"step", metrics.step},
                                 {"text", evaluation.text},
                                 {"tokens", metrics.tokens},
                                 {"loss", metrics.loss},
                                 {"perplexity", evaluation.perplexity()},
                                 {"unigram_entropy", metrics.entropy}};
  if (const auto bits = evaluation.bits_per_byte()) {
    json["bytes"] = *evaluation.bytes;
    json["bits_per_byte"] = *bits;
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int run(Invocation& invocation) {
  Config& config = invocation.config;
  const Surroundings& surroundings = invocation.surroundings;
  const std::string& file = config.get_string("json");
  if (!file.empty()) require_writable(file);
  Checkpoint checkpoint = open_model(invocation, single_argument(invocation, kEvalCommand, "the model"));
  check_xla_flags(config, surroundings);
  Evaluation evaluation;
  try {
    Screen screen(surroundings.out, surroundings.width);
    const Progress progress = [&](std::string_view stage, int64_t done, int64_t total) {
      screen.stage(stage, done, total);
    };
    const Text text = open_text(config, surroundings, progress);
    evaluation = evaluate(invocation, checkpoint, text, progress);
  } catch (const pjrt::PjrtError& error) {
    blame_compile_options(config, error);
    throw;
  }
  fmt::print(surroundings.out, "{}", table_of(evaluation));
  if (!file.empty()) write_file(file, json_of(evaluation));
  return 0;
}

}  // namespace

const Command kEvalCommand{
    "eval",
    "RUN | CHECKPOINT | HUGGING_FACE_FOLDER [--section.option VALUE]…",
    "print a model's loss and perplexity on a text",
    "  tethys eval outputs/llama3_debugmodel                                      on what the run held out\n"
    "  tethys eval outputs/llama3_debugmodel/checkpoint/step-00000500 --json eval.json\n"
    "  tethys eval outputs/llama3_debugmodel --data.text 'other/*.txt'            on all of another text\n"
    "  tethys eval Llama-3.2-1B --data.text 'other/*.txt' --training.seq_len 2048\n"
    "  tethys eval step-00001000 --recipe llama3_8b --data.tokens tokens.bin\n\n"
    "Of a run the newest checkpoint is taken. It runs as the run did, with its batches and on its mesh, so that the\n"
    "numbers are those of its validation, bit for bit; any option may be set otherwise. Perplexity is exp(loss).\n"
    "Bits per byte count the text's bytes in the place of tokens, so they compare across tokenizers. The unigram\n"
    "entropy is the loss of a model that knows how frequent each token is, and nothing else.\n",
    options,
    run,
};

}  // namespace tethys
