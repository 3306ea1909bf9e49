// tethys train: trains a model.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "config/describe.h"
#include "config/recipe.h"
#include "tools/commands.h"
#include "tools/exit_status.h"
#include "tools/locations.h"
#include "tools/plot/loss_chart.h"
#include "tools/screen.h"
#include "tools/standard_error.h"
#include "tools/stop_signals.h"
#include "tools/xla_flags.h"
#include "train/hugging_face_config.h"
#include "train/run_folder.h"
#include "train/saved_step.h"
#include "train/training.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  return with_training_options({
      text_option("output", "", "folder of the run; empty: outputs/ and the recipe's name"),
      bool_option("resume", false, "go on from the newest checkpoint of the output folder"),
      bool_option("dry_run", false, "check data and mesh and compile the step; run and write nothing"),
      bool_option("plot", false, "print the loss curve at the end even where the output is no terminal"),
  });
}

[[noreturn]] void end_stuck(const Watchdog::Stuck& stuck) {
  tell(fmt::format("tethys: {}: the device is stuck", to_string(stuck)));
  ::_exit(kStuck);
}

struct Run {
  std::string name;  // of the recipe, or of the run that goes on
  Path folder;
};

// A run's own folder stands for the run, which goes on there.
Run load_run(Config& config, const Path& folder) {
  if (!config.get_bool("resume")) {
    user_error(
        "{0} is a run: --resume goes on with it; a new run like it is `tethys train {0}/config.toml --output {1}`",
        folder.string(), "FOLDER");
  }
  if (!config.get_string("output").empty()) {
    user_error("{}: the run {} goes on in its own folder", config.cite("output"), folder.string());
  }
  load_run_config(config, folder / "config.toml");
  return {whole_path(folder).filename(), folder};
}

Run load(Invocation& invocation) {
  Config& config = invocation.config;
  const Path given = single_argument(invocation, kTrainCommand, "the recipe");
  std::error_code ignored;
  if (std::filesystem::is_regular_file(given / "config.toml", ignored)) return load_run(config, given);
  const std::string& output = config.get_string("output");
  if (output.empty() && given.filename() == "config.toml") {
    user_error(
        "{} is of a run: give a new one its folder by --output FOLDER; `tethys train {} --resume` goes on with it",
        given.string(), given.has_parent_path() ? given.parent_path().string() : ".");
  }
  const std::string name = load_run_recipe(config, given, recipes_folder(invocation.surroundings.executable));
  return {name, output.empty() ? Path("outputs") / name : Path(output)};
}

// The loss as a picture in the run's folder, and as text where it is looked at.
void draw(const Invocation& invocation, const Run& run) {
  const RunMetrics metrics = read_metrics(run.folder / "metrics.jsonl");
  if (metrics.steps.size() < 2) return;
  const Chart chart = loss_chart(run.name, metrics);
  write_chart_png(run.folder / "loss.png", chart);
  const std::optional<int> width = invocation.surroundings.width;
  std::ostream& out = invocation.surroundings.out;
  if (width || invocation.config.get_bool("plot")) {
    fmt::print(out, "\n{}\n", chart_text(chart, std::min(width.value_or(80), 100), 16));
  }
  fmt::print(out, "loss curve: {}\n", (run.folder / "loss.png").string());
}

int run(Invocation& invocation) {
  const Config& config = invocation.config;
  const Surroundings& surroundings = invocation.surroundings;
  TrainingOptions options;
  const Run run = load(invocation);
  options.output = run.folder;
  check_config(config);
  check_xla_flags(config, surroundings);
  options.resume = config.get_bool("resume");
  options.dry_run = config.get_bool("dry_run");
  std::shared_ptr<const SavedStep> saved;
  if (const std::string& file = config.get_string("device.executable"); !file.empty()) {
    saved = std::make_shared<const SavedStep>(file);
  }
  options.machine = machine_options(config, surroundings, saved);
  if (config.get_bool("profiling.enable_profiling")) options.machine.tracer = std::make_shared<Tracer>();
  options.places = data_places(surroundings);

  Screen screen(surroundings.out, surroundings.width);
  TrainingCallbacks callbacks;
  callbacks.line = [&](const std::string& text) { screen.line(text); };
  callbacks.progress = [&](int64_t done, int64_t total, double seconds) { screen.bar(done, total, seconds); };
  callbacks.indexing = [&](std::string_view stage, int64_t done, int64_t total) { screen.stage(stage, done, total); };
  callbacks.stop = stop_signal;
  callbacks.may_end = [](bool at_any_moment) { at_any_moment ? release_stop_signals() : catch_stop_signals(); };
  callbacks.stuck = end_stuck;
  catch_stop_signals();
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away (`| head`) ends the lines, not the run
  const TrainingResult result = run_training(config, options, callbacks);
  if (options.dry_run || config.get_bool("checkpoint.create_seed_checkpoint")) return kDone;
  if (result.stopped_by != 0) return 128 + result.stopped_by;
  draw(invocation, run);
  return kDone;
}

}  // namespace

const Command kTrainCommand{
    "train",
    "RECIPE | HUGGING_FACE_FOLDER | RUN --resume [--section.option VALUE]…",
    "train a model",
    "  tethys tokenizer train 'books/*.txt' --vocab_size 2048 --output tokenizer.json\n"
    "  tethys train llama3_debugmodel --data.text 'books/*.txt' --data.tokenizer tokenizer.json\n"
    "  tethys train outputs/llama3_debugmodel --resume      go on after a stop; Ctrl-C saves before it stops\n"
    "  tethys train outputs/llama3_debugmodel --resume --training.steps 2000\n"
    "  tethys train llama3_8b --dry_run …                   does it fit together? compiles, runs nothing\n"
    "  tethys train my/recipe.toml --parallelism.data_parallel_shard_degree 4\n\n"
    "RECIPE is a name from recipes/, the path of a TOML file, or a Hugging Face folder, whose model, weights and\n"
    "tokenizer the run then starts from. The run's folder gets metrics.jsonl, the effective\n"
    "config.toml, log.txt, loss.png and the checkpoints. Exit status: 0 done, 1 failed, 2 a mistake in the input,\n"
    "3 out of memory, 4 a stuck device, 128 + n stopped by signal n after saving.\n",
    options,
    run,
    /*prints_result=*/false,  // the run's folder has it all
};

}  // namespace tethys
