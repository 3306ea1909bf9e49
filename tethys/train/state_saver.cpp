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

std::vector<PieceSource> StateSaver::copied(const TrainingState& state, int64_t step) {
  Span span(run_.executor.tracer(), in_background() ? "copy the state to the host" : "list the state");
  std::vector<PieceSource> all = pieces(state, step);
  int64_t bytes = 0;
  for (const PieceSource& piece : all) {
    bytes += piece.window.elements() * static_cast<int64_t>(size_of(piece.type.dtype));
  }
  if (in_background()) span.set({"bytes", bytes});
  return all;
}

void StateSaver::save(const TrainingState& state, int64_t step) {
  const TrainState at{.step = step,
                      .fingerprint = run_.fingerprint,
                      .seed = run_.seed,
                      .data_position = step * run_.setup.rows_per_step()};
  const auto span =
      std::make_shared<Span>(run_.executor.tracer(), "write the checkpoint", "", TraceNumber{"step", step});
  save_.start([this, at, span, pieces = finite_only(copied(state, step), step),
               keep = run_.config.get_int("checkpoint.keep_latest_k")] {
    span->move_to("checkpoint writer");
    run_.checkpoints.save(at, pieces, keep);
    span->end();
  });
  saving_ = step;
  if (in_background()) run_.executor.hold(static_cast<int64_t>(save_copy_bytes(run_.setup, run_.config)));
}

Path StateSaver::completed() {
  saved_ = saving_;
  return run_.checkpoints.path_of(saved_);
}

}  // namespace tethys
