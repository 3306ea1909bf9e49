#include "train/state_saver.h"

#include "config/config.h"
#include "runtime/executor.h"
#include "train/finite.h"
#include "train/fit.h"
#include "train/stored_state.h"

namespace tethys {

bool StateSaver::in_background() const { return run_.config.get_string("checkpoint.async_mode") == "async"; }

std::vector<PieceSource> StateSaver::pieces(const TrainingState& state, int64_t step) {
  CopyMemory* copies = in_background() ? &copies_ : nullptr;
  const bool last = step == run_.config.get_int("training.steps");
  if (!last || !run_.config.get_bool("checkpoint.last_save_model_only")) return pieces_of(state, run_.setup, copies);
  return pieces_in(parse_dtype(run_.config.get_string("checkpoint.export_dtype")),
                   weight_pieces_of(state, run_.setup, copies));
}

void StateSaver::save(const TrainingState& state, int64_t step) {
  const TrainState at{.step = step,
                      .fingerprint = run_.fingerprint,
                      .seed = run_.seed,
                      .data_position = step * run_.setup.rows_per_step()};
  save_.start([this, at, pieces = finite_only(pieces(state, step), step),
               keep = run_.config.get_int("checkpoint.keep_latest_k")] { run_.checkpoints.save(at, pieces, keep); });
  saving_ = step;
  if (in_background()) run_.executor.hold(static_cast<int64_t>(save_copy_bytes(run_.setup, run_.config)));
}

Path StateSaver::completed() {
  saved_ = saving_;
  return run_.checkpoints.path_of(saved_);
}

}  // namespace tethys
