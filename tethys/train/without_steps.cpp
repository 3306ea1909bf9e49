#include "train/without_steps.h"

#include <fmt/format.h>

#include "base/units.h"
#include "config/config.h"
#include "train/console.h"
#include "train/corpus.h"
#include "train/fit.h"
#include "train/prepared.h"
#include "train/run_folder.h"
#include "train/state.h"
#include "train/step_runner.h"
#include "train/text_sampler.h"

namespace tethys {
namespace {

void say(const TrainingCallbacks& callbacks, const std::string& line) {
  if (callbacks.line) callbacks.line(line);
}

void describe(const Config& config, const TrainingSetup& setup, const Machine& machine,
              const TrainingCallbacks& callbacks) {
  for (const std::string& text : console_lines(config, setup, machine.client->platform_name())) say(callbacks, text);
  for (const std::string& warning : setup.warnings) say(callbacks, "warning: " + warning);
}

}  // namespace

void dry_run(const Config& config, const TrainingOptions& options, const TrainingCallbacks& callbacks) {
  if (callbacks.may_end) callbacks.may_end(true);
  if (config.get_int("metrics.sample_freq") > 0) TextSampler::check(config);
  say(callbacks, look_at_training_data(config));
  const auto [machine, setup, executor] = prepare(config, options.machine);
  describe(config, setup, machine, callbacks);
  check_state_fits(setup, memory_of_devices(config), config);
  const StepRunner runner(*executor, setup);
  if (const pjrt::MemoryStats* memory = runner.memory()) {
    say(callbacks, fmt::format("memory: {:.3f} GiB a device ({:.3f} of state and batch, {:.3f} of temporaries)",
                               gib(memory->total()), gib(memory->arguments), gib(memory->temporaries)));
    check_step_fits(*memory, setup, memory_of_devices(config), config);
  }
  say(callbacks, "dry run: the step compiles; nothing was run");
}

void create_seed_checkpoint(const Config& config, const TrainingOptions& options, const TrainingCallbacks& callbacks) {
  RunFolder folder(options.output, options.resume);
  const CheckpointStore checkpoints(folder.checkpoints(config.get_string("checkpoint.folder")));
  const auto seed = static_cast<uint64_t>(config.get_int("debug.seed"));
  if (callbacks.may_end) callbacks.may_end(true);
  const auto [machine, setup, executor] = prepare(config, options.machine);
  describe(config, setup, machine, callbacks);
  check_state_fits(setup, memory_of_devices(config), config);
  const TrainingState state = initial_state(*executor, setup, seed);
  folder.keep();
  checkpoints.save({.step = 0, .fingerprint = "", .seed = seed, .data_position = 0}, weight_pieces_of(state, setup), 0);
  say(callbacks,
      fmt::format("saved {}; start from it by --checkpoint.initial_load_path", checkpoints.path_of(0).string()));
}

}  // namespace tethys
