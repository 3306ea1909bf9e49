// tethys generate: text from a checkpoint.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "base/error.h"
#include "config/recipe.h"
#include "data/tokenizer/tokenizer.h"
#include "tools/commands.h"
#include "tools/locations.h"
#include "train/corpus.h"
#include "train/generation.h"
#include "train/run_folder.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  return with_training_options({
      text_option("prompt", "", "the text to go on from"),
      int_option("length", 256, at_least(1), "tokens in all, the prompt's included"),
      float_option("temperature", 0.0, at_least(0), "0: always the likeliest token; 1: as the model says"),
      int_option("seed", 0, at_least(0), "of the choice of tokens"),
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

// However the model was trained, here it runs on one device.
void take_one_device(Config& config) {
  for (const char* degree :
       {"data_parallel_replicate_degree", "data_parallel_shard_degree", "tensor_parallel_degree"}) {
    config.set(std::string("parallelism.") + degree, int64_t{1}, {Origin::Source::Flag, "tethys generate"});
  }
  config.set("device.count", int64_t{1}, {Origin::Source::Flag, "tethys generate"});
  config.set("graph.mode", std::string("graph"), {Origin::Source::Flag, "tethys generate"});
}

std::vector<int32_t> generate(const Config& config, const MachineOptions& options, const Path& path,
                              const std::vector<int32_t>& prompt, const Sampling& sampling) {
  const Machine machine = open_machine(config, options);
  const TrainingSetup setup = set_up(config, machine.devices);
  const auto executor = make_executor(config, machine, setup.mesh, options);
  Checkpoint checkpoint(path);
  Generator generator(*executor, setup, load_parameters(checkpoint, *executor, setup), config.get_int("length"));
  return generator.run(prompt, sampling);
}

int run(Invocation& invocation) {
  Config& config = invocation.config;
  const Path path = load_model(invocation);
  take_one_device(config);
  check_config(config);
  if (config.get_string("data.tokenizer").empty()) {
    user_error("the run names no tokenizer; give --data.tokenizer FILE");
  }
  const Tokenizer tokenizer = load_tokenizer(config);
  const int64_t length = config.get_int("length");
  if (length > config.get_int("model.context_length")) {
    user_error("{} is more than the model takes: {}", config.cite("length"), config.cite("model.context_length"));
  }
  const std::vector<int32_t> prompt = tokenizer.encode(config.get_string("prompt"));
  if (prompt.empty()) user_error("there is no text to go on from: give --prompt TEXT");
  if (static_cast<int64_t>(prompt.size()) > length) {
    user_error("the prompt has {} tokens, and {}", prompt.size(), config.cite("length"));
  }

  const Sampling sampling{.temperature = config.get_float("temperature"),
                          .seed = static_cast<uint64_t>(config.get_int("seed")),
                          .end = tokenizer.end_of_text(),
                          .vocab_size = tokenizer.vocab_size()};
  std::vector<int32_t> ids;
  try {
    ids = generate(config, machine_options(config, invocation.surroundings), path, prompt, sampling);
  } catch (const pjrt::PjrtError& error) {
    blame_compile_options(config, error);
    throw;
  }
  fmt::print(invocation.surroundings.out, "{}\n", tokenizer.decode(ids));
  return 0;
}

}  // namespace

const Command kGenerateCommand{
    "generate",
    "RUN --prompt TEXT [--section.option VALUE]…",
    "let a trained model go on with a text",
    "  tethys generate outputs/llama3_debugmodel --prompt 'def main('\n"
    "  tethys generate outputs/llama3_debugmodel --prompt 'def main(' --temperature 0.8 --seed 3\n"
    "  tethys generate llama3_8b --checkpoint step-00001000 --data.tokenizer tokenizer.json --prompt Once\n\n"
    "RUN is the folder of a run; its newest checkpoint speaks, with its tokenizer. The same seed says the same.\n",
    options,
    run,
};

}  // namespace tethys
