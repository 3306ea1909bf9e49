// tethys generate: text from a checkpoint.
#include <fmt/format.h>

#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "config/recipe.h"
#include "data/tokenizer/text_stream.h"
#include "data/tokenizer/tokenizer.h"
#include "tools/commands.h"
#include "tools/locations.h"
#include "train/corpus.h"
#include "train/fit.h"
#include "train/generation.h"
#include "train/generation_fit.h"
#include "train/run_folder.h"
#include "train/stop_texts.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  Option stop = text_list_option("stop", {}, "end before this text; may be given several times");
  stop.repeats = true;
  return with_training_options({
      text_option("prompt", "", "the text to go on from"),
      text_option("prompt_file", "", "a file that holds it"),
      int_option("length", 256, at_least(1), "tokens to add at most"),
      float_option("temperature", 0.0, at_least(0), "0: always the likeliest token; 1: as the model says"),
      int_option("top_k", 0, at_least(0), "choose among so many of the likeliest tokens only; 0: among all"),
      float_option("top_p", 1.0, {.low = 0, .high = 1, .open_low = true},
                   "choose among the fewest of the likeliest tokens that have this share of the probability"),
      int_option("seed", 0, at_least(0), "of the choice of tokens"),
      std::move(stop),
      text_option("checkpoint", "", "checkpoint, folder of checkpoints or run; empty: the newest of RUN"),
  });
}

// Loads the run's configuration, or a recipe's, and gives where the weights are.
Path load_model(Invocation& invocation) {
  const std::string& given = single_argument(invocation, kGenerateCommand, "the run");
  const std::string& checkpoint = invocation.config.get_string("checkpoint");
  const Path run_config = Path(given) / "config.toml";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(run_config, ignored)) {
    load_recipe(invocation.config, run_config.string(), {});
    return find_checkpoint_of(checkpoint.empty() ? given : checkpoint);
  }
  if (checkpoint.empty()) {
    user_error("{} is no folder of a run (there is no {}); give one, or a recipe with --checkpoint PATH", given,
               run_config.string());
  }
  load_recipe(invocation.config, given, recipes_folder(invocation.surroundings.executable));
  return find_checkpoint_of(checkpoint);
}

constexpr const char* kPlace = "tethys generate";

const char* dtype_option(DType dtype) {
  if (dtype == DType::F64) return "float64";
  return dtype == DType::BF16 ? "bfloat16" : "float32";
}

// No wider weights are kept than the model computes with.
void take_compute_dtype(Config& config) {
  const Origin origin{Origin::Source::Flag, kPlace};
  const std::string compute = dtype_option(precision_of(config).compute);
  config.set("training.dtype", compute, origin);
  config.set("training.mixed_precision_param", compute, origin);
  config.set("training.seq_len", int64_t{1}, origin);  // the length of rows says nothing here
}

std::string read_prompt(const Config& config) {
  const std::string& text = config.get_string("prompt");
  const std::string& file = config.get_string("prompt_file");
  if (file.empty()) return text;
  if (!text.empty()) {
    user_error("{} and {}: give one of them", config.cite("prompt"), config.cite("prompt_file"));
  }
  return read_file(file);
}

void check_stops(const Config& config) {
  for (const std::string& stop : config.get_strings("stop")) {
    if (stop.empty()) user_error("{}: every text holds the empty one; give a text to stop at", config.cite("stop"));
  }
}

std::vector<int32_t> encode_prompt(const Config& config, const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> prompt = tokenizer.encode(text);
  if (prompt.empty()) user_error("there is no text to go on from: give --prompt TEXT or --prompt_file FILE");
  require_context(config, static_cast<int64_t>(prompt.size()), "length");
  return prompt;
}

Sampling sampling_of(const Config& config, const Tokenizer& tokenizer) {
  return {.temperature = config.get_float("temperature"),
          .top_k = config.get_int("top_k"),
          .top_p = config.get_float("top_p"),
          .seed = static_cast<uint64_t>(config.get_int("seed")),
          .ends = tokenizer.stops(),
          .vocab_size = tokenizer.vocab_size()};
}

// Prints text as it comes, up to a text that ends it.
class Printer {
 public:
  Printer(std::ostream& out, const Tokenizer& tokenizer, const std::vector<std::string>& stops)
      : out_(out), stream_(tokenizer, Specials::Skip), stops_(stops) {}

  // Whether more is wanted.
  bool print(int32_t id) {
    out_ << stops_.push(stream_.push(id)) << std::flush;
    return !stops_.found();
  }
  void end() {
    out_ << stops_.push(stream_.rest());
    out_ << stops_.rest() << std::endl;
  }

 private:
  std::ostream& out_;
  TextStream stream_;
  StopTexts stops_;
};

void print_speed(const GenerationSpeed& speed) {
  std::string text = fmt::format("prefill: {} in {:.2f} s, {:.1f} tokens/s", counted(speed.prompt_tokens, "token"),
                                 speed.prefill_seconds, speed.prompt_tokens / speed.prefill_seconds);
  if (speed.tokens > 0) {
    text += fmt::format("; decode: {} in {:.2f} s, {:.1f} tokens/s", counted(speed.tokens, "token"),
                        speed.decode_seconds, speed.tokens / speed.decode_seconds);
  }
  fmt::print(stderr, "{}\n", text);
}

void generate(const Config& config, Invocation& invocation, const Path& path, const Tokenizer& tokenizer,
              const std::string& text) {
  const std::vector<int32_t> prompt = encode_prompt(config, tokenizer, text);
  const int64_t length = static_cast<int64_t>(prompt.size()) + config.get_int("length");
  const MachineOptions options = machine_options(config, invocation.surroundings);
  const Machine machine = open_machine(config, options);
  const TrainingSetup setup = set_up(config, machine.devices);
  const int64_t memory = memory_of_devices(config);
  check_parameters_fit(setup, memory, config);
  const auto executor = make_executor(config, machine, setup.mesh, options);
  const GenerationPrograms programs = compile_generation(*executor, setup, static_cast<int64_t>(prompt.size()), length);
  check_generation_fits(programs, memory, length, config);
  Checkpoint checkpoint(path);
  Generator generator(*executor, programs, load_parameters(checkpoint, *executor, setup));
  std::ostream& out = invocation.surroundings.out;
  out << text << std::flush;
  Printer printer(out, tokenizer, config.get_strings("stop"));
  const GenerationSpeed speed = generator.run(prompt, config.get_int("length"), sampling_of(config, tokenizer),
                                              [&](int32_t id) { return printer.print(id); });
  printer.end();
  print_speed(speed);
}

int run(Invocation& invocation) {
  Config& config = invocation.config;
  check_stops(config);
  const std::string text = read_prompt(config);
  const Path path = load_model(invocation);
  take_one_device(config, kPlace);
  take_compute_dtype(config);
  check_config(config);
  if (config.get_string("data.tokenizer").empty()) {
    user_error("the run names no tokenizer; give --data.tokenizer FILE");
  }
  const Tokenizer tokenizer = load_tokenizer(config);
  try {
    generate(config, invocation, path, tokenizer, text);
  } catch (const pjrt::PjrtError& error) {
    blame_compile_options(config, error);
    throw;
  }
  return 0;
}

}  // namespace

const Command kGenerateCommand{
    "generate",
    "RUN (--prompt TEXT | --prompt_file FILE) [--section.option VALUE]…",
    "let a trained model go on with a text",
    "  tethys generate outputs/llama3_debugmodel --prompt 'def main('\n"
    "  tethys generate outputs/llama3_debugmodel --prompt_file a.py --temperature 0.8 --top_p 0.95 --seed 3\n"
    "  tethys generate outputs/llama3_debugmodel --prompt 'def main(' --stop $'\\n\\n' --stop 'def '\n"
    "  tethys generate llama3_8b --checkpoint step-00001000 --data.tokenizer tokenizer.json --prompt Once\n\n"
    "RUN is the folder of a run; its newest checkpoint speaks, with its tokenizer, until the end of a text or turn, a "
    "text\n"
    "of --stop, or --length tokens. The same seed says the same. The speed is printed to standard error.\n",
    options,
    run,
};

}  // namespace tethys
