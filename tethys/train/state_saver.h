// StateSaver: saves the state of a run, in the background where checkpoint.async_mode says so: then the steps wait for
// no more than a copy of the state in host memory. One save at a time. One thread uses it.
//
//   StateSaver saver({config, checkpoints, executor, setup, seed, fingerprint}, first_step);
//   if (!saver.began(20)) saver.save(state, 20);        // the save before must have been waited for
//   …steps…
//   if (auto path = saver.ended()) say(*path);          // throws what the save threw
//   if (auto path = saver.wait()) say(*path);
#pragma once

#include <optional>

#include "checkpoint/background_save.h"
#include "train/saved_run.h"
#include "train/state.h"

namespace tethys {

class StateSaver {
 public:
  // `step`: that of the newest checkpoint, 0 without one. What `run` refers to must outlive it.
  StateSaver(SavedRun run, int64_t step) : run_(std::move(run)), saved_(step), saving_(step) {}

  // Begins to save the state after `step` steps: DiskError, or Error where the state is not finite, here or when it is
  // asked for.
  void save(const TrainingState& state, int64_t step);
  // The checkpoint that is complete now; once for each save.
  std::optional<Path> ended() { return save_.ended() ? std::optional(completed()) : std::nullopt; }
  // Waits for the save that was begun; nothing if that was asked for already.
  std::optional<Path> wait() { return save_.wait() ? std::optional(completed()) : std::nullopt; }

  bool in_background() const;
  // Whether the state after this step is saved, or is being saved.
  bool began(int64_t step) const { return step == saving_; }
  int64_t saving() const { return saving_; }
  // The step of the newest checkpoint that is complete and was asked for; 0 if there is none.
  int64_t saved() const { return saved_; }

 private:
  std::vector<PieceSource> pieces(const TrainingState& state, int64_t step);
  // The same as part of a timeline.
  std::vector<PieceSource> copied(const TrainingState& state, int64_t step);
  Path completed();

  const SavedRun run_;
  int64_t saved_, saving_;
  CopyMemory copies_;    // of the state, while it is saved
  BackgroundSave save_;  // goes first: it uses the others
};

}  // namespace tethys
