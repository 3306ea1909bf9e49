#include "train/first_state.h"

#include "base/error.h"
#include "config/config.h"
#include "train/hugging_face.h"

namespace tethys {
namespace {

void check_resumable(const Checkpoint& checkpoint, const SavedRun& run) {
  const TrainState& saved = checkpoint.manifest().state;
  const std::string where = checkpoint.path().string();
  const char* fix = "start a new run from its weights by --checkpoint.initial_load_path";
  if (saved.step > 0 && saved.fingerprint != run.fingerprint) {
    user_error("{} was trained on {}, and this run on {}: a run cannot go on with other data; {}", where,
               saved.fingerprint, run.fingerprint, fix);
  }
  if (saved.seed != run.seed) {
    user_error("{} has seed {}, and {}; {}", where, saved.seed, run.config.cite("debug.seed"), fix);
  }
  if (saved.step > run.config.get_int("training.steps")) {
    user_error("{} is of step {}, past the end of {}", where, saved.step, run.config.cite("training.steps"));
  }
}

// A run that passed a damaged checkpoint over would throw away what it stands for, and could not save at its step.
void refuse_damaged(const CheckpointStore& checkpoints) {
  if (const std::optional<Path> damaged = checkpoints.damaged()) {
    user_error("{} is damaged: its manifest.json is missing; restore it, or remove the folder to go on without it",
               damaged->string());
  }
}

FirstState resumed_from(int64_t step, const SavedRun& run, const std::function<void()>& compile) {
  Checkpoint checkpoint(run.checkpoints.path_of(step));
  check_resumable(checkpoint, run);
  const bool goes_on = step < run.config.get_int("training.steps");
  const bool weights_only = has_weights_only(checkpoint);
  if (weights_only && step > 0 && goes_on) {
    user_error("{} holds weights alone, and a run cannot be resumed from them; start a new run from them by {}",
               checkpoint.path().string(), "--checkpoint.initial_load_path");
  }
  FirstState first{step, {}, fmt::format("resuming after step {}", step)};
  if (!goes_on) return first;
  compile();
  // Before the first step there is no momentum.
  first.state = weights_only ? load_weights(checkpoint, run.executor, run.setup)
                             : load_state(checkpoint, run.executor, run.setup);
  return first;
}

}  // namespace

FirstState first_state(const SavedRun& run, bool resume, const std::function<void()>& compile) {
  const std::optional<int64_t> newest = resume ? run.checkpoints.newest() : std::nullopt;
  if (resume) refuse_damaged(run.checkpoints);
  if (newest) return resumed_from(*newest, run, compile);
  if (!run.config.get_string("checkpoint.initial_load_path").empty()) {
    Checkpoint checkpoint = open_initial_weights(run.config);
    compile();
    return {0,
            load_weights(checkpoint, run.executor, run.setup, run.config.get_strings("checkpoint.exclude_from_loading"),
                         run.seed),
            fmt::format("weights from {}", checkpoint.path().string())};
  }
  compile();
  return {0, initial_state(run.executor, run.setup, run.seed),
          resume ? "no checkpoint to resume from: beginning at step 1" : ""};
}

}  // namespace tethys
